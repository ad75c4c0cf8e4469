// The name of what is checked is on the terminal before its check begins, which may hold up everything else.
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { progressOn } from '../../command/progress.js'
import { root } from '../../command/project.js'

const written = async (isTTY: boolean): Promise<readonly string[]> => {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 80 })
  const told = (): string => String(stream.read() ?? '')
  const progress = await progressOn(stream as never, root)
  progress.start(2)
  told()
  const texts = ['first', 'second'].map((name) => {
    progress.next(name)
    return told()
  })
  progress.stop()
  return texts
}
it('in a bar', async () => {
  const [first, second] = await written(true)
  expect(first).toMatch(/ 0\/2 first/)
  expect(second).toMatch(/ 1\/2 second/)
})
it('in lines', async () => {
  expect(await written(false)).toEqual(['1/2 first\n', '2/2 second\n'])
})
