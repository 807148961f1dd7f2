// The copy button of a block of commands copies the commands, without prompts and output.
document.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest("[data-clipboard-target]");
    const code = button && document.querySelector(button.dataset.clipboardTarget);
    if (!code || !code.closest(".language-console")) return;
    const commands = [];
    let goesOn = false;
    for (const line of code.textContent.split("\n")) {
      if (line.startsWith("$ ")) commands.push(line.slice(2));
      else if (goesOn) commands.push(line);
      goesOn = (line.startsWith("$ ") || goesOn) && line.endsWith("\\");
    }
    button.setAttribute("data-clipboard-text", commands.join("\n"));
  },
  true,
);
