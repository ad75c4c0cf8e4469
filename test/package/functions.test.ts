/** What stands in the place of arrow functions in dist/node does the same. */
import { describe, expect, it } from 'vitest'
import { withoutArrows } from '../../scripts/functions.js'

const run = async (code: string): Promise<unknown> =>
  ((await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { readonly default: unknown }).default
const cases: Readonly<Record<string, readonly [code: string, value: unknown, arrows: number]>> = {
  'an expression': ['const f=(a,b)=>a+b;export default f(1,2)', 3, 0],
  'one name, and a function in a function': ['const f=a=>b=>a*b;export default f(3)(4)', 12, 0],
  'a block': ['const f=()=>{let s=0;for(const x of[1,2])s+=x;return s};export default f()', 3, 0],
  'an object': ['const f=x=>({x});export default f(1).x', 1, 0],
  'behind return': ['const f=x=>{return(...y)=>[x,...y].length};export default f(1)(2,3)', 3, 0],
  'a line that ends behind the arrow': ['const f=(a)=>\na+1;export default f(1)', 2, 0],
  'standards and parts': ['const f=({a=1,b:[c]=[2]},...r)=>a+c+r.length;export default f({},7,8)', 5, 0],
  'a name': ['const twice=x=>2*x;export default twice.name', 'twice', 0],
  later: ['const f=async x=>(await x)+1,g=async(x)=>{return await f(x)};export default await g(Promise.resolve(2))', 3, 0],
  'called at once': ['export default(x=>x+1)(1)', 2, 0],
  'in an array, a call and a choice': ['const f=[x=>x,x=>-x];export default [1,2].map((x,i)=>(i?f[1]:y=>y+1)(x)).join()', '2,-2', 0],
  'this of a method': ['class A{v=2;m(){return[1].map(x=>x*this.v)[0]}}export default new A().m()', 2, 1],
  'this of a field': ['class A{v=2;m=()=>this.v}export default new A().m()', 2, 1],
  super: ['class A{m(){return 3}}class B extends A{m(){return(()=>super.m())()}}export default new B().m()', 3, 1],
  arguments: ['function f(){return(()=>arguments.length)()}export default f(1,2)', 2, 1],
  'a function with its own this inside': [
    'const f=()=>({v:4,m(){return this.v},g:function(){return this.v}});export default f().m()+f().g()',
    8,
    0,
  ],
  'this two functions out': ['class A{v=5;m(){return(()=>()=>this.v)()()}}export default new A().m()', 5, 2],
}
describe('withoutArrows', () => {
  for (const [what, [code, value, arrows]] of Object.entries(cases))
    it(what, async () => {
      expect(await run(code)).toBe(value)
      const made = withoutArrows('x.js', code)
      expect(await run(made)).toBe(value)
      expect(made.split('=>').length - 1).toBe(arrows)
    })
})
