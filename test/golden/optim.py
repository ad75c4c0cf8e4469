"""Makes optim.json: 50 steps of each optimiser by PyTorch (torch.optim), optax (x64), or NumPy (numpy.linalg) where neither has it.

    pip install torch optax numpy && python test/golden/optim.py > test/golden/optim.json
"""
import json
import sys

import jax
import numpy as np
import optax
import torch

jax.config.update('jax_enable_x64', True)
import jax.numpy as jnp  # noqa: E402

torch.set_default_dtype(torch.float64)
STEPS = 50
rng = np.random.default_rng(7)
ROWS = 12
x = rng.normal(size=(ROWS, 2)).round(3)
y = (np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] + 0.1 * rng.normal(size=ROWS)).round(3)
first = {'b1': np.array([0.1, -0.2]), 'b2': np.array(0.05), 'w1': rng.normal(size=(2, 2)).round(3), 'w2': rng.normal(size=2).round(3)}
NAMES = sorted(first)


def batch(step):
    return [(5 * step + i) % ROWS for i in range(4)]


def flat(params):
    return [float(v) for name in NAMES for v in np.asarray(params[name], dtype=np.float64).reshape(-1)]


def torch_run(make):
    params = {k: torch.tensor(v, requires_grad=True) for k, v in first.items()}
    optimiser = make([params[k] for k in NAMES])
    out = []
    for step in range(STEPS):
        optimiser.zero_grad()
        rows = batch(step)
        bx, by = torch.tensor(x[rows]), torch.tensor(y[rows])
        loss = ((torch.tanh(bx @ params['w1'] + params['b1']) @ params['w2'] + params['b2'] - by) ** 2).mean()
        loss.backward()
        optimiser.step()
        out.append(flat({k: v.detach().numpy() for k, v in params.items()}))
    return out


def jax_loss(params, bx, by):
    return jnp.mean((jnp.tanh(bx @ params['w1'] + params['b1']) @ params['w2'] + params['b2'] - by) ** 2)


def optax_run(optimiser, apply=optax.apply_updates):
    params = {k: jnp.asarray(v) for k, v in first.items()}
    state = optimiser.init(params)
    out = []
    for step in range(STEPS):
        rows = batch(step)
        gradient = jax.grad(jax_loss)(params, jnp.asarray(x[rows]), jnp.asarray(y[rows]))
        updates, state = optimiser.update(gradient, state, params)
        params = apply(params, updates)
        out.append(flat(params))
    return out


def optax_accumulated(optimiser, every):
    """A step for the mean of `every` gradients (optax.MultiSteps itself computes parts of it in f32)."""
    params = {k: jnp.asarray(v) for k, v in first.items()}
    state = optimiser.init(params)
    out, gradients = [], []
    for step in range(STEPS):
        rows = batch(step)
        gradients.append(jax.grad(jax_loss)(params, jnp.asarray(x[rows]), jnp.asarray(y[rows])))
        if len(gradients) == every:
            updates, state = optimiser.update(jax.tree.map(lambda *g: sum(g) / every, *gradients), state, params)
            params, gradients = optax.apply_updates(params, updates), []
        out.append(flat(params))
    return out


def optax_ema():
    """The average of the parameters along plain gradient descent."""
    params = {k: jnp.asarray(v) for k, v in first.items()}
    average = optax.ema(0.9)
    state = average.init(params)
    out = []
    for step in range(STEPS):
        rows = batch(step)
        gradient = jax.grad(jax_loss)(params, jnp.asarray(x[rows]), jnp.asarray(y[rows]))
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient)
        mean, state = average.update(params, state)
        out.append(flat(mean))
    return out


# ---- L-BFGS: an ill-conditioned quadratic with a quartic term
scale = np.array([1.0, 3.0, 10.0, 30.0, 50.0, 100.0])
mix = np.eye(6) + 0.1 * np.ones((6, 6))
target = np.array([1.0, -2.0, 0.5, 3.0, -1.0, 0.25])


def torch_lbfgs():
    p = torch.tensor([0.3, 0.1, -0.4, 0.2, 0.6, -0.5], requires_grad=True)
    optimiser = torch.optim.LBFGS([p], lr=0.7, max_iter=1, history_size=4, tolerance_grad=0, tolerance_change=0)

    def closure():
        optimiser.zero_grad()
        z = torch.tensor(mix) @ p
        loss = 0.5 * (torch.tensor(scale) * z * z).sum() - (torch.tensor(target) * p).sum() + 0.25 * (p**4).sum()
        loss.backward()
        return loss

    out = []
    for _ in range(STEPS):
        optimiser.step(closure)
        out.append([float(v) for v in p.detach()])
    return out


# ---- least squares: a decaying exponential with an offset
t = np.linspace(0, 4, 9)
data = (2.5 * np.exp(-1.3 * t) + 0.5 + 0.05 * np.sin(7 * t)).round(4)


def residual(p):
    a, b, c = p
    return a * np.exp(-b * t) + c - data


def jacobian(p):
    a, b, _ = p
    e = np.exp(-b * t)
    return np.stack([e, -a * t * e, np.ones_like(t)], axis=1)


def gauss_newton(start):
    p = np.array(start)
    out = []
    for _ in range(STEPS):
        p = p + np.linalg.lstsq(jacobian(p), -residual(p), rcond=None)[0]
        out.append(p.tolist())
    return out


def levenberg_marquardt(start):
    p, damping = np.array(start), 1e-3
    out, rejected = [], 0
    for _ in range(STEPS):
        j, r = jacobian(p), residual(p)
        norms = np.sqrt((j * j).sum(axis=0))
        d = np.sqrt(damping) * np.where(norms == 0, 1, norms)
        step = np.linalg.lstsq(np.concatenate([j, np.diag(d)]), np.concatenate([-r, np.zeros(3)]), rcond=None)[0]
        there = residual(p + step)
        if 0.5 * (there * there).sum() < 0.5 * (r * r).sum():
            p, damping = p + step, damping / 10
        else:
            damping, rejected = damping * 10, rejected + 1
        out.append(p.tolist())
    assert rejected > 2, 'a start from which steps are rejected'
    return out


warmup = optax.warmup_cosine_decay_schedule(0.0, 0.1, 5, 45, 0.001)
sched = lambda f: [float(f(k)) for k in range(0, 60)]  # noqa: E731
result = {
    'how': f'test/golden/optim.py with torch {torch.__version__.split("+")[0]}, optax {optax.__version__}, jax {jax.__version__}, numpy {np.__version__}',
    'problem': {'x': x.tolist(), 'y': y.tolist(), 'params': {k: v.tolist() for k, v in first.items()}},
    'network': {
        'sgd': torch_run(lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=0.01)),
        'momentum': torch_run(lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.8, weight_decay=0.01)),
        'nesterov': torch_run(lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True)),
        'adam': torch_run(lambda p: torch.optim.Adam(p, lr=0.05)),
        'adam with L2': torch_run(lambda p: torch.optim.Adam(p, lr=0.05, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.05)),
        'adamw': torch_run(lambda p: torch.optim.AdamW(p, lr=0.05)),
        'rmsprop': torch_run(lambda p: torch.optim.RMSprop(p, lr=0.02, weight_decay=0.01)),
        'adagrad': torch_run(lambda p: torch.optim.Adagrad(p, lr=0.2, initial_accumulator_value=0.1)),
        'amsgrad': torch_run(lambda p: torch.optim.Adam(p, lr=0.05, betas=(0.8, 0.9), amsgrad=True, weight_decay=0.01)),
        'adamax': torch_run(lambda p: torch.optim.Adamax(p, lr=0.05, weight_decay=0.01)),
        'radam': torch_run(lambda p: torch.optim.RAdam(p, lr=0.05, betas=(0.9, 0.98))),
        'adadelta': torch_run(lambda p: torch.optim.Adadelta(p, lr=1.0, rho=0.8, eps=1e-3)),
        'lamb': optax_run(optax.lamb(0.05, weight_decay=0.01)),
        'lion': optax_run(optax.lion(0.01)),
        'clipped adam with a cosine': optax_run(
            optax.chain(
                optax.clip_by_global_norm(0.5),
                optax.adam(lambda count: warmup(count.astype(jnp.float64))),  # of an int32 it would be computed in f32
            )
        ),
        'multiSteps': optax_accumulated(optax.adam(0.05), 3),
        'masked decay': optax_run(
            optax.chain(optax.masked(optax.add_decayed_weights(0.1), {'b1': False, 'b2': False, 'w1': True, 'w2': True}), optax.sgd(0.1))
        ),
        'ema': optax_ema(),
    },
    'lbfgs': torch_lbfgs(),
    'gaussNewton': gauss_newton([2.0, 1.0, 0.3]),
    'levenbergMarquardt': levenberg_marquardt([-2.9, 3.2, 3.4]),
    'schedules': {
        'linear': sched(optax.linear_schedule(1.0, 0.1, 40, 10)),
        'cosine': sched(optax.cosine_decay_schedule(0.3, 50, 0.1)),
        'warmup': sched(optax.warmup_cosine_decay_schedule(0.01, 0.3, 10, 50, 0.02)),
        'oneCycle': sched(optax.cosine_onecycle_schedule(50, 0.3)),
        'exponential': sched(optax.exponential_decay(0.3, 10, 0.7)),
        'staircase': sched(optax.exponential_decay(0.3, 10, 0.7, staircase=True)),
        'piecewise': sched(optax.piecewise_constant_schedule(0.3, {20: 0.5, 40: 0.1})),
    },
}
json.dump(result, sys.stdout)
