/** What is rendered of each kind of object: recognised by what it has, so that nothing of checker or training is loaded for it. */
import { greatestOf } from '../core/errors/extremes.js'
import { type AdError, type AnyExpr, type Explanation, explain, isAdException, isExpr, type Program, show, toProgram } from '../index.js'
import { graphOf } from './graph.js'
import { about, type Child, cut, element, firstOf, joined, type Markup, pre, table } from './html.js'
import { bytes, elementText, grouped, number } from './numbers.js'
import { picture } from './picture.js'
import { plotSVG, type Series } from './plot.js'
import { isTensorLike, summaryOf, type TensorLike, tensorHTML, typeText } from './tensor.js'

/** Parts of a tree, and how deep they lie. */
const MOST_PARTS = 10_000
const MOST_DEEP = 50
/** Rows of a table of steps, findings or leaves. */
const MOST_ROWS = 50
type Fields = Readonly<Record<string, unknown>>
const isFields = (x: unknown): x is Fields => typeof x === 'object' && x !== null
const has = (x: unknown, ...names: readonly string[]): boolean => isFields(x) && names.every((name) => name in x)
/** Longer lists are not looked into: a list may have more holes than anyone can count. */
const MOST_ITEMS = 2 ** 20
const isList = (x: unknown): x is readonly unknown[] => Array.isArray(x) && x.length <= MOST_ITEMS
const isNumbers = (x: unknown): x is readonly number[] => isList(x) && x.every((v) => typeof v === 'number')

/** A program: its equations, and the picture where it is small enough. */
const programHTML = (text: string, x: Program | AnyExpr): Markup => {
  const graph = graphOf(x)
  const drawn = picture(graph)
  const operations = graph.nodes.filter((n) => n.kind === 'apply').length
  return joined([
    pre(cut(text)),
    drawn === undefined
      ? about(`${grouped(operations)} operations: too many for a picture`)
      : element(
          'details',
          { open: '' },
          element('summary', {}, `graph of ${grouped(operations)} operation${operations === 1 ? '' : 's'}`),
          drawn,
        ),
  ])
}
/** The equations of an expression without inputs; what an expression inside of a function is. */
export const expressionText = (x: AnyExpr): string => {
  try {
    return show(toProgram(() => x)())
  } catch {
    return String(x)
  }
}

const explanationHTML = (e: Explanation): Markup => {
  const figures = [
    `${grouped(e.steps.length)} steps`,
    `${grouped(e.kernels)} kernels`,
    `${grouped(e.flops)} flops`,
    `${bytes(e.bytes)} moved`,
    `${bytes(e.peakBytes)} at the peak`,
    e.cached ? 'its plan was cached' : `planned in ${e.planMs.toFixed(1)} ms`,
    ...(e.verified === undefined ? [] : [`verified: ${e.verified}`]),
  ]
  const most = greatestOf(
    e.steps.map((s) => s.flops * s.times),
    1,
  )
  const { shown, rest } = firstOf(e.steps, MOST_ROWS, 'steps')
  const bar = (share: number): Markup =>
    element('div', { style: `width:${(80 * share).toFixed(1)}px;height:.7em;background:#3b78c7;display:inline-block` })
  const rows = shown.map((s, i): readonly Child[] => [
    i,
    `${s.kernel}${s.transfer === undefined ? '' : ' (on the CPU)'}`,
    `[${s.sizes.join(', ')}]`,
    grouped(s.times),
    grouped(s.flops),
    bytes(s.bytes),
    bar((s.flops * s.times) / most),
  ])
  return joined([
    about(`${e.backend}: ${figures.join(', ')}`),
    table(['step', 'kernel', 'sizes', 'times', 'flops', 'bytes', 'share of flops'], rows, [false, true, true, false, false, false, true]),
    ...rest,
    ...e.loops.map((l) => about(`loop: steps ${l.first} to ${l.end - 1}, ${l.conditional ? 'at most ' : ''}${grouped(l.count)} times`)),
    ...(e.blas === undefined ? [] : [about(`system library: ${e.blas}`)]),
    ...(e.fallback === undefined ? [] : [about(`slower than it could be: ${e.fallback}`)]),
    ...(e.dropped ?? []).map((d) => about(`left out of the derivatives: ${d.text}`)),
  ])
}

interface FindingLike {
  readonly check: string
  readonly of: string
  readonly path: string
  readonly entry: string
  readonly expected: string
  readonly actual: string
  readonly how: string
  readonly at: string
  readonly fix: string
  readonly replay: string
}
const isFinding = (x: unknown): x is FindingLike => has(x, 'check', 'of', 'expected', 'actual', 'replay')
const findingsHTML = (findings: readonly FindingLike[]): Markup => {
  const { shown, rest } = firstOf(findings, MOST_ROWS, 'findings')
  return joined([
    about(`wrong: ${findings.length} finding${findings.length === 1 ? '' : 's'}`),
    table(
      ['of', 'check', 'where', 'true', 'found', 'how', 'what to do'],
      shown.map((f) => [f.of, f.check, `${f.path}${f.entry}`, f.expected, f.actual, f.how, f.fix === '' ? f.replay : f.fix]),
      [true, true, true, false, false, true, true],
    ),
    ...rest,
  ])
}
const passedHTML = (p: Fields): Markup => {
  const notes = ['undecided', 'kinks', 'notImplemented', 'skipped'].flatMap((name) => {
    const list = p[name]
    return isList(list) && list.length > 0
      ? [about(`${name === 'notImplemented' ? 'not implemented' : name}: ${list.map(String).join('; ')}`)]
      : []
  })
  return joined([about(`right: ${String(p.of)}, ${grouped(Number(p.comparisons))} comparisons`), ...notes])
}

/** Losses that fall by more than that are drawn in powers of ten. */
const DECADES = 100
const curves = (series: Series): readonly Markup[] => {
  const lists = Object.entries(series).filter(([, ys]) => ys.length > 0)
  if (lists.length === 0) return []
  const all = lists.flatMap(([, ys]) => Array.from(ys).filter(Number.isFinite))
  const [least, greatest] = all.reduce(
    ([a, b], y) => [Math.min(a, y), Math.max(b, y)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  )
  return [plotSVG(Object.fromEntries(lists), least > 0 && greatest / least > DECADES)]
}
interface HistoryLike {
  readonly loss: readonly number[]
  readonly validation: readonly number[]
  readonly metrics: Readonly<Record<string, readonly number[]>>
}
const isHistory = (x: unknown): x is HistoryLike =>
  isFields(x) && isNumbers(x.loss) && isNumbers(x.validation) && isFields(x.metrics) && Object.values(x.metrics).every(isNumbers)
const historyHTML = (h: HistoryLike): Markup => {
  const last = (ys: readonly number[]): string => (ys.length === 0 ? '' : number(ys.at(-1)!))
  const named = [['loss', h.loss], ['validation', h.validation], ...Object.entries(h.metrics)] as readonly (readonly [
    string,
    readonly number[],
  ])[]
  const told = named.filter(([, ys]) => ys.length > 0).map(([name, ys]) => `${name} ${last(ys)}`)
  return joined([
    about(`${h.loss.length} epochs${told.length === 0 ? '' : `; at the end ${told.join(', ')}`}`),
    ...curves({ loss: h.loss, validation: h.validation }),
    ...curves(h.metrics),
  ])
}
const fittedHTML = (x: Fields): Markup => {
  const { epoch, score } = x.best as { readonly epoch: number; readonly score: number }
  return joined([
    about(`ended by ${String(x.ended)}; best after epoch ${epoch}${Number.isNaN(score) ? '' : `, ${number(score)}`}`),
    historyHTML(x.history as HistoryLike),
  ])
}
/** Numbers by step, as curves by name. */
const byName = (metrics: readonly unknown[]): Series => {
  const found: Record<string, number[]> = Object.create(null) as Record<string, number[]>
  for (const m of metrics)
    if (isFields(m)) for (const [name, x] of Object.entries(m)) if (typeof x === 'number') found[name] = [...(found[name] ?? []), x]
  return found
}
const trainedHTML = (x: Fields): Markup => {
  const metrics = x.metrics as readonly unknown[]
  return joined([
    about(`${x.done === true ? 'done' : 'not done'} after ${grouped(metrics.length)} steps`),
    ...Object.entries(byName(metrics)).flatMap(([n, ys]) => curves({ [n]: ys })),
  ])
}

type Leaf = TensorLike | AnyExpr | number
/** The arrays and numbers of a tree by their paths; undefined where there are none, or objects that are no part of a tree. */
const leavesOf = (tree: unknown): readonly (readonly [string, Leaf])[] | undefined => {
  const found: (readonly [string, Leaf])[] = []
  let arrays = 0
  const seen = new Set<unknown>()
  const visit = (x: unknown, path: string, depth: number): boolean => {
    if (found.length > MOST_PARTS || depth > MOST_DEEP) return false
    if (isTensorLike(x) || isExpr(x)) {
      arrays++
      return found.push([path, x]) > 0
    }
    if (typeof x === 'number') return found.push([path, x]) > 0
    if (x === null || typeof x !== 'object') return true
    const plain = isList(x) || [Object.prototype, null].includes(Object.getPrototypeOf(x) as object | null)
    if (!plain || seen.has(x) || seen.size > MOST_PARTS) return false
    seen.add(x)
    return Object.entries(x as Fields).every(([key, y]) => visit(y, path === '' ? key : `${path}.${key}`, depth + 1))
  }
  return visit(tree, '', 0) && arrays > 0 ? found : undefined
}
const treeHTML = (leaves: readonly (readonly [string, Leaf])[]): Markup => {
  const { shown, rest } = firstOf(leaves, MOST_ROWS, 'leaves')
  const rows = shown.map(([path, x]): readonly Child[] => {
    if (typeof x === 'number') return [path, 'number', number(x)]
    return [
      path,
      typeText(x as TensorLike),
      isTensorLike(x) ? (x.data.length === 1 ? elementText(x.data[0]!, x.dtype) : summaryOf(x)) : 'an expression',
    ]
  })
  return joined([table(['path', 'type', 'numbers'], rows, [true, true, true]), ...rest])
}

const isError = (x: unknown): x is AdError => isFields(x) && typeof x._tag === 'string' && x._tag !== 'Right' && x._tag !== 'Left'
const errorText = (e: unknown): string | undefined => {
  if (isAdException(e)) return e.message
  if (e instanceof Error) return String(e)
  if (!isError(e)) return undefined
  const text: unknown = explain(e)
  return typeof text === 'string' ? text : undefined
}

/** An object in HTML, or undefined where it is nothing that is known here. */
export const look = (x: unknown, most: number): Markup | undefined => {
  if (isTensorLike(x)) return tensorHTML(x, most)
  if (isExpr(x)) return programHTML(expressionText(x), x)
  if (x instanceof Error) return pre(cut(errorText(x) ?? String(x)))
  if (!isFields(x)) return undefined
  if (has(x, 'inputs', 'outputs', 'inputTree', 'outputTree', 'captured'))
    return programHTML(show(x as unknown as Program), x as unknown as Program)
  if (has(x, 'backend', 'steps', 'loops', 'kernels', 'flops')) return explanationHTML(x as unknown as Explanation)
  if (isHistory(x)) return historyHTML(x)
  if (has(x, 'history', 'best', 'ended') && isHistory(x.history)) return fittedHTML(x)
  if (has(x, 'state', 'position', 'metrics', 'evaluations') && isList(x.metrics)) return trainedHTML(x)
  if (x._tag === 'Right') return has(x.right, 'comparisons', 'looked') ? passedHTML(x.right as Fields) : look(x.right, most)
  if (x._tag === 'Left') {
    if (isList(x.left) && x.left.length > 0 && x.left.every(isFinding)) return findingsHTML(x.left)
    const text = errorText(x.left)
    const last = has(x.left, 'last') ? look((x.left as Fields).last, most) : undefined
    return text === undefined ? undefined : joined([pre(cut(text)), ...(last === undefined ? [] : [last])])
  }
  if (isList(x) && x.length > 0 && x.every(isFinding)) return findingsHTML(x)
  const leaves = leavesOf(x)
  return leaves === undefined ? undefined : treeHTML(leaves)
}
