// What is no array, at every public way in: the error is BadInput, names the argument (or the field) and says the way out.
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

class Model {
  readonly w = cd.tensor([1, 2])
}
const sum = cd.sum as unknown as (x: unknown) => cd.AnyExpr
const loose = cd as unknown as Readonly<Record<string, (...args: readonly unknown[]) => never>>
const field = (x: unknown) => sum((x as { readonly params: { readonly w: unknown } }).params.w)

/** What is given, how it is called in words, and the way out. */
const given: readonly (readonly [string, unknown, RegExp, RegExp])[] = [
  ['null', null, /null/, /leave the argument out|give every leaf|misspelt/],
  ['undefined', undefined, /undefined/, /an argument is missing/],
  ['a class instance', new Model(), /Model/, /\{ \.\.\.x \}/],
  ['a Map', new Map([['w', 1]]), /Map/, /Object\.fromEntries/],
  ['a Set', new Set([1]), /Set/, /\[\.\.\.set\]/],
  ['a Date', new Date(0), /Date/, /getTime/],
  ['a Promise', Promise.resolve(1), /Promise/, /await/],
  ['a RegExp', /a/, /RegExp/, /pass one of its fields/],
  ['a text', '1.5', /'1\.5'/, /write 1\.5/],
  ['a function', () => 1, /a function/, /call it/],
  ['an object that looks like an element', Object.create(new (class HTMLInputElement {})()), /HTMLInputElement/, /pass one of its fields/],
]
/** Ways in, and how each calls the argument. */
const ways: readonly (readonly [string, (x: unknown) => unknown, RegExp])[] = [
  ['an operation', (x) => loose.add!(1, x), /^BadInput: add: /],
  ['a list of arrays', (x) => loose.concat!([x]), /^BadInput: concat: /],
  ['tensor', (x) => loose.tensor!(x), /^BadInput: tensor: /],
  ['evaluate', (x) => loose.evaluate!(x), /^BadInput: evaluate: /],
  ['a compiled function', (x) => (cd.compile(sum as never) as (x: unknown) => unknown)(x), /^BadInput: \w+: argument 0: /],
  ['its second argument', (x) => (cd.compile(((a: unknown) => sum(a)) as never) as (...x: readonly unknown[]) => unknown)(1, x), /^BadInput: \w+: argument 1: /],
  ['a field', (x) => (cd.compile(field as never) as (x: unknown) => unknown)({ params: { w: x } }), /^BadInput: field: argument 0\.params\.w: |^BadInput: sum: /],
  ['grad', (x) => (cd.grad(field as never) as (x: unknown) => unknown)({ params: { w: x } }), /^BadInput: grad\(field\): argument 0\.params\.w: |^BadInput: sum: /],
  ['vmap', (x) => (cd.vmap(sum as never) as (x: unknown) => unknown)(x), /^BadInput: vmap\(\w+\): argument 0: |^BadInput: vmap\(\w+\): /],
  ['a declared input', (x) => (cd.fn({ x: cd.f64() }, ({ x: y }) => y) as (x: unknown) => unknown)({ x }), /^BadInput: fn: x: /],
  ['the result', (x) => (cd.compile((() => x) as never) as () => unknown)(), /^BadInput: /],
] // biome-ignore format: a row for each
describe.each(ways)('%s', (name, way, place) => {
  it.each(given)('given %s', (what, x, words, out) => {
    let said = ''
    try {
      way(x)
    } catch (e) {
      if (!cd.isAdException(e)) throw e
      said = e.message
    }
    if (said === '') throw new Error(`${name} took ${what}`)
    expect(said).toMatch(place)
    expect(said.split('\n')[0]).toMatch(words)
    expect(said).toMatch(/\n {2}fix: /)
    const itself = what === 'null' || what === 'undefined' || what === 'a function'
    if (name !== 'the result' && name !== 'tensor' && !itself) expect(said).toMatch(out)
  })
})
