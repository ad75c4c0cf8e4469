"""Values and gradients of iris, transformer, VAE, flow, GRU and MAML by PyTorch 2.13 and JAX 0.10, in float64: models.json.

python models.py > models.json
Parameters are 0.5 sin(1 + 1.7 k), where k counts the numbers of all leaves, in the order of sorted names. A gradient is given by one number for
each leaf, the sum of g cos(0.3 k), and by the norm of each leaf.
"""
import json, math, os, re
import numpy as np
import jax, jax.numpy as jnp
import torch
import torch.nn.functional as F

jax.config.update('jax_enable_x64', True)
torch.set_default_dtype(torch.float64)


def wave(shapes, scale=0.5):
    leaves, treedef = jax.tree.flatten(shapes, is_leaf=lambda x: isinstance(x, tuple))
    out, k = [], 0
    for shape in leaves:
        n = math.prod(shape)
        out.append((scale * np.sin(1 + 1.7 * np.arange(k, k + n))).reshape(shape))
        k += n
    return jax.tree.unflatten(treedef, out)


def measure(value, gradient):
    projections, norms, k = [], [], 0
    for g in jax.tree.leaves(gradient):
        g = np.asarray(g).ravel()
        projections.append(float(g @ np.cos(0.3 * np.arange(k, k + g.size))))
        norms.append(float(np.linalg.norm(g)))
        k += g.size
    return {'value': float(value), 'projections': projections, 'norms': norms}


def with_torch(f, params):
    leaves = jax.tree.map(lambda p: torch.tensor(p, requires_grad=True), params)
    value = f(leaves)
    value.backward()
    return measure(value.item(), jax.tree.map(lambda p: p.grad.numpy(), leaves))


def iris():
    here = os.path.dirname(os.path.abspath(__file__))
    text = open(os.path.join(here, 'iris.ts')).read()
    x = np.array(re.search('`([^`]*)`', text).group(1).split(), float).reshape(150, 4)
    x = (x - x.mean(0)) / x.std(0)
    y = np.repeat([0, 1, 2], 50)

    def loss(flat):
        w, b = flat[:12].reshape(4, 3), flat[12:]
        return -jnp.mean(jax.nn.log_softmax(x @ w + b)[jnp.arange(150), y]) + 0.005 * jnp.sum(w * w)

    best = np.zeros(15)
    for _ in range(20):  # Newton's method; the least step, since a constant added to b changes nothing
        best = best - np.linalg.lstsq(jax.hessian(loss)(best), jax.grad(loss)(best), rcond=1e-12)[0]
    w = best[:12].reshape(4, 3)
    right = int(np.sum(np.argmax(x @ w + best[12:], 1) == y))

    p = jax.tree.map(torch.tensor, wave({'hidden': {'w': (4, 8), 'b': (8,)}, 'out': {'w': (8, 3), 'b': (3,)}}))
    leaves = [t.requires_grad_() for t in jax.tree.leaves(p)]
    optimiser = torch.optim.Adam(leaves, lr=0.02)
    losses, tx, ty = [], torch.tensor(x), torch.tensor(y)
    for _ in range(3):
        for i in range(0, 150, 20):
            h = torch.tanh(tx[i:i + 20] @ p['hidden']['w'] + p['hidden']['b'])
            value = F.cross_entropy(h @ p['out']['w'] + p['out']['b'], ty[i:i + 20])
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
            losses.append(value.item())
    return {'loss': float(loss(best)), 'weights': w.tolist(), 'right': right, 'losses': losses}


def transformer():
    text = 'to be, or not to be, that is the question:'
    letters = sorted(set(text))
    tokens = torch.tensor([letters.index(c) for c in text])
    n, norm, head = len(letters), {'scale': (16,), 'bias': (16,)}, (2, 16, 8)
    params = wave({
        'token': (n, 16), 'place': (len(text), 16), 'norm': norm,
        'attention': {'norm': norm, 'q': head, 'k': head, 'v': head, 'out': (2, 8, 16)},
        'network': {'norm': norm, 'w1': (16, 64), 'b1': (64,), 'w2': (64, 16), 'b2': (16,)},
    })

    def normed(x, p):
        return F.layer_norm(x, (16,), p['scale'], p['bias'])

    def loss(p):
        x = p['token'][tokens[:-1]] + p['place'][:len(text) - 1]
        a = p['attention']
        y = normed(x, a['norm'])
        out = F.scaled_dot_product_attention(y @ a['q'], y @ a['k'], y @ a['v'], is_causal=True)  # [2, time, 8]
        x = x + (out @ a['out']).sum(0)
        m = p['network']
        x = x + F.gelu(normed(x, m['norm']) @ m['w1'] + m['b1']) @ m['w2'] + m['b2']
        return F.cross_entropy(normed(x, p['norm']) @ p['token'].T, tokens[1:])

    return with_torch(loss, params)


def vae():
    bars = torch.tensor([[((k % 8) >> (i // 3 if k < 8 else i % 3)) & 1 for i in range(9)] for k in range(16)], dtype=torch.float64)
    noise = torch.tensor(np.sin(0.7 * np.arange(32)).reshape(16, 2))
    params = wave({'encoder': {'hidden': {'w': (9, 16), 'b': (16,)}, 'out': {'w': (16, 4), 'b': (4,)}},
                   'decoder': {'hidden': {'w': (2, 16), 'b': (16,)}, 'out': {'w': (16, 9), 'b': (9,)}}})

    def dense(p, x):
        return torch.tanh(x @ p['hidden']['w'] + p['hidden']['b']) @ p['out']['w'] + p['out']['b']

    def loss(p):
        mu, log_var = dense(p['encoder'], bars).chunk(2, -1)
        q = torch.distributions.Normal(mu, torch.exp(0.5 * log_var))
        kl = torch.distributions.kl_divergence(q, torch.distributions.Normal(0.0, 1.0)).sum(-1)
        z = q.loc + q.scale * noise
        return -(torch.distributions.Bernoulli(logits=dense(p['decoder'], z)).log_prob(bars).sum(-1) - kl).mean()

    return with_torch(loss, params)


def flow():
    xs = torch.tensor(np.sin(0.9 * np.arange(20)).reshape(10, 2))
    params = wave([{'w1': (16,), 'b1': (16,), 'w2': (16, 2), 'b2': (2,)}] * 6)

    def forward(p, x):
        a, b = x[0], x[1]
        for c in p:
            y = torch.tanh(a * c['w1'] + c['b1']) @ c['w2'] + c['b2']
            a, b = b * torch.exp(2 * torch.tanh(y[0])) + y[1], a
        return torch.stack([a, b])

    def loss(p):  # the determinant from the whole Jacobian, not from the couplings
        def log_density(x):
            _, log_det = torch.linalg.slogdet(torch.func.jacrev(lambda x: forward(p, x))(x))
            return torch.distributions.Normal(0.0, 1.0).log_prob(forward(p, x)).sum() + log_det
        return -torch.stack([log_density(x) for x in xs]).mean()

    return with_torch(loss, params)


def gru():
    params = wave({'cell': {'wi': (4, 24), 'bi': (24,), 'wh': (8, 24), 'bh': (24,)}, 'out': {'w': (8, 4), 'b': (4,)}})
    sequences = torch.tensor([[(3 * i + 5 * t + i * t) % 4 for t in range(8)] for i in range(6)])

    def loss(p):
        cell, c = torch.nn.GRU(4, 8, batch_first=True), p['cell']
        weights = {'weight_ih_l0': c['wi'].T, 'weight_hh_l0': c['wh'].T, 'bias_ih_l0': c['bi'], 'bias_hh_l0': c['bh']}
        _, h = torch.func.functional_call(cell, weights, F.one_hot(sequences, 4).double())
        return F.cross_entropy(h[0] @ p['out']['w'] + p['out']['b'], sequences[:, 0])

    return with_torch(loss, params)


def maml():
    params = wave({'first': {'w': (1, 20), 'b': (20,)}, 'second': {'w': (20, 20), 'b': (20,)}, 'out': {'w': (20, 1), 'b': (1,)}})
    amplitude, phase = np.array([0.5, 2.0, 4.5]), np.array([0.3, 1.5, 2.9])

    def draw(shift):
        x = 5 * np.sin(shift + 1.3 * np.arange(30)).reshape(3, 10, 1)
        return x, amplitude[:, None, None] * np.sin(x - phase[:, None, None])

    def dense(p, x):
        return x @ p['w'] + p['b']

    def loss(p, x, y):
        return jnp.mean((dense(p['out'], jnp.tanh(dense(p['second'], jnp.tanh(dense(p['first'], x))))) - y) ** 2)

    def task(p, support, query):
        g = jax.grad(loss)(p, *support)
        return loss(jax.tree.map(lambda p, g: p - 0.1 * g, p, g), *query)

    def meta(p):
        return jnp.mean(jax.vmap(lambda s, q: task(p, s, q))(draw(0), draw(1)))

    return measure(*jax.value_and_grad(meta)(params))


print(json.dumps({f.__name__: f() for f in (iris, transformer, vae, flow, gru, maml)}, indent=1))
