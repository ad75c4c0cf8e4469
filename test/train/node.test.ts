// Files and the terminal: parameters saved and loaded, runs that stop anywhere and go on to the bit, writes that are whole or not there, the bar.
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterAll, describe, expect, it, vi } from 'vitest'
import {
  type AdError,
  add,
  compile,
  cpu,
  div,
  explain,
  f32,
  f64,
  fn,
  matmul,
  mean,
  mul,
  onDevice,
  sqrt,
  square,
  sub,
  tanh,
  tensor,
  valueAndGrad,
} from '../../src/index.js'
import { batches, encodeSafetensors, type TrainEvent, train } from '../../src/train/index.js'
import { load, loadCheckpoint, progressBar, save, saveCheckpoint } from '../../src/train/node.js'

const folder = mkdtempSync(join(tmpdir(), 'codual-train-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string): string => join(folder, name)
const right = <A>(e: { readonly _tag: 'Left'; readonly left: AdError } | { readonly _tag: 'Right'; readonly right: A }): A => {
  if (e._tag === 'Left') throw new Error(explain(e.left))
  return e.right
}

describe('save and load', () => {
  const params = { layers: [{ w: tensor([[1, 2]], [1, 2], 'f32') }, { w: tensor([3]) }] as const }
  it('a file by name, and onto a tree', async () => {
    right(await save(at('p.safetensors'), params, { model: 'two' })())
    expect(readFileSync(at('p.safetensors')).equals(encodeSafetensors(params, { model: 'two' }))).toBe(true)
    const flat = right(await load(at('p.safetensors'))())
    expect([Object.keys(flat.tensors).sort(), flat.metadata]).toEqual([['layers.0.w', 'layers.1.w'], { model: 'two' }])
    const { tensors } = right(await load(at('p.safetensors'), { like: { layers: [{ w: f32(1, 'n') }, { w: f64(1) }] as const } })())
    const one: 1 = tensors.layers[0].w.shape[0]
    expect([one, tensors.layers[0].w.toArray()]).toEqual([1, [[1, 2]]])
  })
  it('tensors of a device', async () => {
    right(await save(at('d.safetensors'), await onDevice(params, cpu()))())
    expect(Object.keys(right(await load(at('d.safetensors'))()).tensors).length).toBe(2)
  })
  it('a file of Python', async () => {
    const path = new URL('../golden/safetensors/dtypes.safetensors', import.meta.url).pathname
    expect(right(await load(path)()).tensors['layer.0.w']?.toArray()).toEqual([[0, 1, 2], [3, 4, 5]]) // biome-ignore format: rows
  })
  it('give what is wrong as values', async () => {
    const left = async (task: () => Promise<{ readonly _tag: string }>) => {
      const e = (await task()) as { readonly _tag: 'Left'; readonly left: AdError }
      expect(e._tag).toBe('Left')
      return explain(e.left)
    }
    expect(await left(load(at('none')))).toMatch(/^BadInput: load: .*none: Error: ENOENT/)
    expect(await left(save(at('no/such/folder'), params))).toMatch(/^BadInput: save: .*: Error: ENOENT/)
    expect(await left(save(folder, params))).toMatch(/^BadInput: save: .*: Error: E/)
    expect(await left(save(at('x'), { w: 'text' }))).toMatch(/w: 'text' is not/)
    expect(await left(save('', params))).toMatch(/the path must be a string/)
    expect(await left(save(3 as never, params))).toMatch(/save: the path must be a string, not 3/)
    expect(await left(load('a\0b'))).toMatch(/the path must be a string/)
    expect(await left(load(at('p.safetensors'), { like: { layers: [{ w: f64(1) }] } }))).toMatch(
      /layers\.0\.w: has shape \[1, 2\], not \[1\]\.\n.*layers\.1\.w: is in the file/,
    )
    expect(await left(saveCheckpoint(at('x'), { state: params } as never))).toMatch(/the position is not/)
    expect(await left(saveCheckpoint(at('x'), null as never))).toMatch(/null is not a checkpoint/)
    expect(await left(loadCheckpoint(at('p.safetensors'), { like: params }))).toMatch(/this is not a checkpoint/)
    expect(existsSync(at('x'))).toBe(false)
  })
  it('leave the old file, and nothing else, where writing fails', async () => {
    const inside = mkdtempSync(join(folder, 'whole-'))
    const path = join(inside, 'w.safetensors')
    right(await save(path, params)())
    const before = readFileSync(path)
    vi.doMock('node:fs/promises', async (original) => {
      const fs = await original<typeof import('node:fs/promises')>()
      const full = async (...[file, flags]: Parameters<typeof fs.open>) => {
        const handle = await fs.open(file, flags)
        handle.writeFile = async () => {
          writeFileSync(file as string, 'half')
          throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
        }
        return handle
      }
      return { ...fs, open: full }
    })
    const e = await save(path, { w: tensor([9]) })()
    vi.doUnmock('node:fs/promises')
    expect(e).toMatchObject({ _tag: 'Left', left: { _tag: 'BadInput' } })
    expect(explain((e as { left: AdError }).left)).toContain('ENOSPC')
    expect(readdirSync(inside)).toEqual(['w.safetensors'])
    expect(readFileSync(path).equals(before)).toBe(true)
  })
  it('replace a file that is read only by a new one, and leave no other', async () => {
    const inside = mkdtempSync(join(folder, 'replaced-'))
    const path = join(inside, 'w.safetensors')
    right(await save(path, params)())
    chmodSync(path, 0o444)
    await Promise.all(Array.from({ length: 8 }, (_, i) => save(path, { w: tensor([i]) })()))
    expect(readdirSync(inside)).toEqual(['w.safetensors'])
    expect(Object.keys(right(await load(path)()).tensors)).toEqual(['w'])
  })
})

// ---- a run that stops, and goes on

/** Adam written by hand, on a model of one layer. In f32 the types say f64: what is compared is bytes. */
const adam = (leaf: typeof f64) => {
  const w = leaf(3, 1)
  const loss = fn({ w, x: leaf('n', 3), y: leaf('n', 1) }, ({ w, x, y }) => mean(square(sub(tanh(matmul(x, w)), y))))
  const step = fn({ w, m: w, s: w, t: leaf(), x: leaf('n', 3), y: leaf('n', 1) }, ({ w, m, s, t, x, y }) => {
    const { value, grad } = valueAndGrad(loss, { wrt: 'w' })({ w, x, y })
    const m1 = add(mul(0.9, m), mul(0.1, grad))
    const s1 = add(mul(0.99, s), mul(0.01, square(grad)))
    return { state: { w: sub(w, div(mul(0.01, m1), add(sqrt(s1), 1e-8))), m: m1, s: s1, t: add(t, 1) }, loss: value, at: t }
  })
  const { dtype } = w
  const wave = (n: number, phase: number): number[] => Array.from({ length: n }, (_, i) => Math.sin(phase + 1.3 * i))
  const zero = tensor(0, [3, 1], dtype)
  return {
    step: compile(step),
    state: { w: tensor(wave(3, 1), [3, 1], dtype), m: zero, s: zero, t: tensor(0, [], dtype) },
    data: { x: tensor(wave(69, 3), [23, 3], dtype), y: tensor(wave(23, 4), [23, 1], dtype) },
  }
}

describe.each([
  ['f32', f32 as unknown as typeof f64],
  ['f64', f64],
] as const)('a run in %s', (dtype, leaf) => {
  const { step, state, data } = adam(leaf)
  type State = typeof state
  const options = { epochs: 3, evaluate: (s: State) => ({ t: s.t.item() }) }
  const source = () => batches(data, { size: 5, seed: 9 })
  type Batch = ReturnType<ReturnType<typeof source>['at']>
  const one = (s: State, batch: Batch) => step({ ...s, ...batch })
  const whole = train(one, source(), { ...options, state })
  const bytes = (s: State) => Buffer.from(encodeSafetensors(s)).toString('hex')

  it.each([0, 1, 4, 5, 6, 9, 10, 14, 15])(
    'stopped after %i steps and continued from its file is the run that never stopped, to the bit',
    async (stop) => {
      const all = right(await whole())
      expect([all.metrics.length, all.state.w.dtype]).toEqual([15, dtype])
      const abort = new AbortController()
      if (stop === 0) abort.abort()
      const path = at(`${dtype}-${stop}.safetensors`)
      const first = right(
        await train(one, source(), {
          ...options,
          state,
          signal: abort.signal,
          onProgress: (e) => {
            if (e._tag === 'Step' && e.done === stop) abort.abort()
          },
        })(),
      )
      expect([first.done, first.metrics.length]).toEqual([stop === 15, stop])
      right(await saveCheckpoint(path, first)())
      const checkpoint = right(await loadCheckpoint(path, { like: state })())
      const second = right(await train(one, source(), { ...options, ...checkpoint })())
      expect(bytes(second.state)).toBe(bytes(all.state))
      expect([...first.metrics, ...second.metrics]).toEqual(all.metrics)
      expect([...first.evaluations, ...second.evaluations]).toEqual(all.evaluations)
    },
  )
  it('whose checkpoint was written by onProgress, and that died afterwards, is too', async () => {
    const all = right(await whole())
    for (const last of [3, 5, 10]) {
      const path = at(`${dtype}-died-${last}.safetensors`)
      const dying = (s: State, batch: Batch, { done }: { readonly done: number }) => {
        if (done === last) throw new Error('power cut')
        return one(s, batch)
      }
      const died = await train(dying, source(), {
        ...options,
        state,
        onProgress: (e) => (e._tag === 'Step' ? saveCheckpoint(path, e)() : undefined),
      })()
      expect(died._tag).toBe('Left')
      const checkpoint = right(await loadCheckpoint(path, { like: state })())
      const rest = right(await train(one, source(), { ...options, ...checkpoint })())
      expect(bytes(rest.state)).toBe(bytes(all.state))
      expect(rest.metrics).toEqual(all.metrics.slice(last))
      // The evaluation of an epoch whose last step is the checkpoint's is due again.
      expect(rest.evaluations).toEqual(all.evaluations.filter(({ epoch }) => 5 * (epoch + 1) >= last))
    }
  })
})

describe('progressBar', () => {
  const drawn = async (run: (onProgress: (e: TrainEvent) => unknown) => Promise<unknown>): Promise<string> => {
    let text = ''
    const stream = Object.assign(new Writable({ write: (chunk, _, done) => { text += String(chunk); done() } }), { isTTY: true, columns: 200, cursorTo: () => true, clearLine: () => true, moveCursor: () => true }) // biome-ignore format: one stream
    await run(progressBar({ name: 'sums', stream }))
    return text
  }
  const counter = batches([1, 2, 3, 4], { size: 1 })
  it('draws steps, epoch and metrics', async () => {
    const text = await drawn((onProgress) =>
      train((n: number) => ({ state: n + 1, loss: 0.5, tiny: 1e-7 }), counter, { state: 0, epochs: 2, onProgress })(),
    )
    expect(text).toMatch(/sums {2}.*1\/8 {2}epoch 0 {2}loss 0\.5000 {2}tiny 1\.000e-7/)
    expect(text).toMatch(/8\/8 {2}epoch 1/)
  })
  it('ends with the run, also with one that fails', async () => {
    const boom = (n: number) => {
      if (n === 2) throw new Error('x')
      return { state: n + 1 }
    }
    expect(await drawn((onProgress) => train(boom, counter, { state: 0, epochs: 2, onProgress })())).toMatch(/1\/8[\s\S]*\n/)
    expect(await drawn((onProgress) => train(boom, counter, { state: 2, epochs: 2, onProgress })())).toBe('')
  })
  it('refuses options that are none', () => {
    expect(() => progressBar({ title: 'x' } as never)).toThrow(/there is no option title/)
    expect(() => progressBar({ name: 3 } as never)).toThrow(/the name must be a string, not 3/)
    expect(() => progressBar({ stream: {} } as never)).toThrow(/the stream cannot be written to/)
  })
  it('says what to install where cli-progress is missing', async () => {
    vi.resetModules()
    vi.doMock('cli-progress', () => {
      throw new Error('Cannot find package')
    })
    const { progressBar: without } = await import('../../src/train/node.js')
    const e = await train((n: number) => ({ state: n + 1 }), counter, { state: 0, epochs: 1, onProgress: without() })()
    vi.doUnmock('cli-progress')
    expect(e).toMatchObject({ _tag: 'Left', left: { _tag: 'Unsupported', fix: 'npm install cli-progress', last: { state: 1 } } })
  })
})
