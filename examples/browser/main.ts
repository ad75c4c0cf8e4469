// The page: what the buttons do, and what is shown while the network learns.
//   ?backend=webgpu|cpu   where it starts (default: WebGPU where there is one)
//   ?seed=N               which weights and which order of the images (default 1)
//   ?steps=N              how long it trains (default 1000)
import { type Backend, webgpu } from 'codual'
import { worker } from 'codual/worker'
import { makeCharts, smoothed } from './charts.js'
import { fetchDigits } from './digits.js'
import { afterLoss, noWebGpu } from './faults.js'
import { makeGallery } from './gallery.js'
import { makePad } from './pad.js'
import { makeTraining, weights } from './training.js'

type Name = 'webgpu' | 'cpu'
/** Steps between two looks at the unseen digits. */
const lookEvery = 25

const the = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E
const toggle = the<HTMLButtonElement>('toggle')
const reset = the<HTMLButtonElement>('reset')
const fieldset = the<HTMLFieldSetElement>('backends')
const radios = [...fieldset.querySelectorAll('input')]

const asked = new URLSearchParams(location.search)
const whole = (name: string, otherwise: number): number => {
  const n = Number(asked.get(name) ?? otherwise)
  return Number.isInteger(n) && n > 0 ? n : otherwise
}

const say = (text: string): void => {
  the('message').hidden = text === ''
  the('message').textContent = text
}
/** Lets the page draw and hear clicks between two steps; a timer would wait 4 ms. */
const nextTask = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })

/** The name of what runs the training, as the browser tells it. */
const describe = async (name: Name): Promise<string> => (name === 'webgpu' ? await webgpu().adapter() : 'WebAssembly, in a worker')

const start = async (): Promise<void> => {
  the('weights').textContent = weights.toLocaleString('en')
  const backends: Readonly<Record<Name, Backend>> = {
    webgpu: webgpu(),
    cpu: worker({ start: () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' }) }),
  }
  let name: Name = asked.get('backend') === 'cpu' ? 'cpu' : 'webgpu'
  let device = ''
  try {
    device = await describe(name)
  } catch (e) {
    say(noWebGpu(e))
    name = 'cpu'
    device = await describe(name)
  }
  const digits = await fetchDigits()
  const training = await makeTraining(digits, backends[name], { seed: whole('seed', 1), steps: whole('steps', 1000) })
  const charts = makeCharts(the('loss-chart'), the('accuracy-chart'))
  const gallery = makeGallery(the('gallery'), digits.unseen)
  the('gallery-note').textContent =
    `What the network reads in ${digits.unseen.count.toLocaleString('en')} digits that it never trains on; here are 24. Mistakes are marked.`

  let running = false
  /** Where the training is being moved to. */
  let moving: Name | undefined
  let loop: Promise<void> = Promise.resolve()
  /** When the last steps ended, for the speed; how long the first step took on each backend. */
  let ended: number[] = []
  const firstStep = new Map<Name, number>()

  const percent = (x: number | undefined): string => (x === undefined ? '–' : `${(100 * x).toFixed(1)} %`)
  const speed = (): string => {
    const since = ended.findIndex((t) => t > ended.at(-1)! - 2000)
    const recent = ended.slice(Math.min(since, Math.max(0, ended.length - 3)))
    const seconds = (recent.at(-1)! - recent[0]!) / 1000
    return recent.length < 2 ? '–' : ((recent.length - 1) / seconds).toPrecision(recent.length > 100 * seconds ? 3 : 2)
  }
  /** What is going on: read aloud when it changes, unlike the steps beside it. */
  const state = (): string => {
    if (training.losses.length >= training.steps) return 'Trained'
    if (running) return firstStep.has(name) ? 'Training' : `Compiling the step for ${name === 'cpu' ? 'the CPU' : 'WebGPU'}`
    return training.losses.length === 0 ? 'Ready' : 'Paused'
  }
  let drawn = false
  const draw = (): void => {
    if (drawn) return
    drawn = true
    requestAnimationFrame(() => {
      drawn = false
      const { losses, correct, looks, steps } = training
      const done = losses.length >= steps
      toggle.textContent = running ? 'Pause' : done ? 'Trained' : losses.length === 0 ? 'Start' : 'Go on'
      toggle.disabled = done
      reset.disabled = losses.length === 0
      for (const r of radios) r.checked = r.value === (moving ?? name)
      const took = firstStep.get(name)
      the('adapter').textContent = took === undefined ? device : `${device} · first step, compiled with it: ${(took / 1000).toFixed(2)} s`
      const [before, now] = [the('state').textContent, state()]
      if (before !== now) the('state').textContent = now
      the('steps').textContent = losses.length === 0 ? '' : `: step ${losses.length.toLocaleString('en')} of ${steps.toLocaleString('en')}`
      the<HTMLProgressElement>('progress').value = losses.length / steps
      the('loss').textContent = losses.length === 0 ? '–' : smoothed(losses).at(-1)!.toPrecision(3)
      the('accuracy').textContent = percent(smoothed(correct).at(-1))
      the('unseen').textContent = percent(looks.at(-1)?.accuracy)
      the('speed').textContent = speed()
      charts.draw(losses, correct, looks)
      gallery.show(training.predicted)
    })
  }

  /** Goes on on the CPU after a failure elsewhere; a failure on the CPU is the end. */
  const fallBack = async (e: unknown): Promise<void> => {
    if (name === 'cpu') throw e
    const at = training.losses.length
    name = 'cpu'
    device = await describe(name)
    await training.recoverOn(backends.cpu)
    ended = []
    say(afterLoss(e, at, training.losses.length))
  }
  const run = async (): Promise<void> => {
    ended = []
    while (running && training.losses.length < training.steps) {
      try {
        const from = performance.now()
        await training.advance()
        const now = performance.now()
        if (!firstStep.has(name)) firstStep.set(name, now - from)
        ended.push(now)
        const step = training.losses.length
        if (step % lookEvery === 0 || step === training.steps) await training.look()
      } catch (e) {
        await fallBack(e)
      }
      draw()
      await nextTask()
    }
    running = false
    draw()
  }
  const failed = (e: unknown): void => {
    running = false
    say(`Training stopped: ${(e as Error).message.split('\n')[0]} Reload the page to try again.`)
    draw()
  }
  const go = (): void => {
    running = true
    loop = run().catch(failed)
    draw()
  }
  const stop = async (): Promise<void> => {
    running = false
    draw()
    await loop
  }
  /** Does something while the training rests, with the buttons off. */
  const resting = async (job: () => Promise<void>): Promise<void> => {
    const was = running
    fieldset.disabled = true
    reset.disabled = true
    await stop()
    await job().catch(failed)
    fieldset.disabled = false
    draw()
    if (was && training.losses.length < training.steps) go()
  }

  toggle.addEventListener('click', () => (running ? void stop() : go()))
  reset.addEventListener('click', () => {
    running = false
    say('')
    void resting(async () => {
      await training.restart().catch(fallBack)
      ended = []
    })
  })
  for (const radio of radios)
    radio.addEventListener('change', () => {
      const next = radio.value as Name
      moving = next
      say('')
      void resting(async () => {
        try {
          const found = await describe(next)
          await training.moveTo(backends[next])
          ;[name, device] = [next, found]
        } catch (e) {
          if (next === 'webgpu') say(noWebGpu(e))
          else await fallBack(e)
        } finally {
          moving = undefined
        }
        ended = []
      })
    })
  makePad(the('pad'), the<HTMLButtonElement>('clear'), (image) => {
    const show = (text: string): void => {
      the('own').textContent = text
    }
    if (image === undefined) show('–')
    else
      training.read(image).then(
        (digit) => show(String(digit)),
        () => show('?'),
      )
  })
  // For the console, and for the test.
  Object.assign(window, { training, firstStep })
  toggle.disabled = false
  draw()
}

start().catch((e: unknown) => say(`The page did not start: ${(e as Error).message.split('\n')[0]} Reload it to try again.`))
