"""PPO in one file, in the style of CleanRL: a batch of worlds, PyTorch, and no library of algorithms.

You will see the mean return of an episode of ``pliant/Touch-v0`` before and after the training, without exploration
noise, and a policy that `pliant policy run` takes. ``17_ppo_in_one_file.py 60``: rounds of 1280 actions.
"""

import sys

try:
    import torch
    from torch import nn
except ImportError as missing:
    raise SystemExit(f'{missing}; this example needs: pip install "pliant[sb3]"') from None

from pliant.learn.envs import BatchEnv
from pliant.learn.envs.export import export_policy
from pliant.learn.envs.search import episode_returns
from pliant.learn.envs.tasks import touch

WORLDS, STEPS, EPOCHS, PARTS, GAMMA, LAMBDA, CLIP, RATE = 32, 40, 10, 4, 0.9, 0.95, 0.2, 1e-3


def network(inputs: int, outputs: int) -> nn.Sequential:
    """Return two hidden layers of 32 with tanh."""
    return nn.Sequential(nn.Linear(inputs, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, outputs))


def score(actor: nn.Module) -> float:
    """Return the mean return of one episode of each of 32 new worlds, without noise."""
    env = BatchEnv(touch.task(), WORLDS)
    with torch.no_grad():
        found = episode_returns(env, lambda seen: actor(torch.as_tensor(seen)).double().numpy(), seed=1000)
    env.close()
    return float(found.mean())


def main(rounds: int) -> None:
    """Train, and export the actor."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    env = BatchEnv(touch.task(), WORLDS, autoreset_mode="SameStep")
    seen, _ = env.reset(seed=1)
    actor, critic = network(seen.shape[1], env.action_space.shape[1]), network(seen.shape[1], 1)
    spread = nn.Parameter(torch.full((env.action_space.shape[1],), -1.0))
    weights, before = [*actor.parameters(), *critic.parameters(), spread], score(actor)
    optimiser = torch.optim.Adam(weights, lr=RATE)
    for _ in range(rounds):
        rows = []
        with torch.no_grad():
            for _ in range(STEPS):
                now = torch.as_tensor(seen)
                noisy = torch.distributions.Normal(actor(now), spread.exp())
                action = noisy.sample()
                seen, reward, terminated, truncated, _ = env.step(action.numpy())
                live = torch.as_tensor(~(terminated | truncated), dtype=torch.float32)
                given, log = torch.as_tensor(reward, dtype=torch.float32), noisy.log_prob(action).sum(1)
                rows.append((now, action, log, critic(now)[:, 0], given, live))
            states, actions, logs, values, rewards, lives = (torch.stack(column) for column in zip(*rows, strict=True))
            later, ahead, advantages = critic(torch.as_tensor(seen))[:, 0], 0.0, torch.zeros_like(values)
            for k in reversed(range(STEPS)):  # generalised advantage estimation
                error, later = rewards[k] + GAMMA * later * lives[k] - values[k], values[k]
                advantages[k] = ahead = error + GAMMA * LAMBDA * lives[k] * ahead
        data = [part.flatten(0, 1) for part in (states, actions, logs, advantages, advantages + values)]
        for part in (p for _ in range(EPOCHS) for p in torch.randperm(WORLDS * STEPS).chunk(PARTS)):
            state, action, log, advantage, target = (column[part] for column in data)
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            ratio = (torch.distributions.Normal(actor(state), spread.exp()).log_prob(action).sum(1) - log).exp()
            gain = torch.minimum(ratio * advantage, ratio.clamp(1.0 - CLIP, 1.0 + CLIP) * advantage).mean()
            optimiser.zero_grad()
            (0.5 * (critic(state)[:, 0] - target).square().mean() - gain).backward()
            nn.utils.clip_grad_norm_(weights, 0.5)
            optimiser.step()
    print(f"return {before:.2f} before, {score(actor):.2f} after {rounds * WORLDS * STEPS} actions")
    layers = [tuple(x.detach().double().numpy() for x in (m.weight, m.bias)) for m in actor if hasattr(m, "bias")]
    export_policy(touch.task(), layers, touch.NAMES, activation="tanh", settings=touch.OPTIONS).save("touch.npz")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
