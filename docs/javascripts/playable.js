// Turns pictures of the gallery into 3D scenes that play when they are clicked, where `make scenes` has made them.
(() => {
  const folder = new URL("../playable/", document.currentScript.src);

  const play = (picture, scene) => {
    const frame = document.createElement("iframe");
    frame.className = "playable-scene";
    frame.title = `${picture.alt}: 3D scene that plays`;
    frame.src = `${new URL("player.html", folder)}?playbackPath=${encodeURIComponent(scene)}`;
    picture.closest(".playable-frame").replaceWith(frame);
  };

  const offer = (picture) => {
    const scene = new URL(`${picture.dataset.scene}.viser`, folder).href;
    const frame = document.createElement("span");
    frame.className = "playable-frame";
    picture.replaceWith(frame);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "\u25b6 play in 3D";
    button.addEventListener("click", () => play(picture, scene));
    frame.append(picture, button);
  };

  const start = async () => {
    const pictures = [...document.querySelectorAll("img.playable")];
    if (!pictures.length) return;
    try {
      const answer = await fetch(new URL("scenes.json", folder));
      const made = answer.ok ? await answer.json() : [];
      pictures.filter((picture) => made.includes(picture.dataset.scene)).forEach(offer);
    } catch {
      // Without the scenes the pictures stay.
    }
  };

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
