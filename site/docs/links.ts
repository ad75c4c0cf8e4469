/** Links in Markdown: where they stand, what they lead to, and those that lead nowhere. */
import { posix } from 'node:path'

/** The anchor of a heading, as GitHub makes it: the same links work in the repository and on the site. */
export const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')

/** A text in pieces: outside code, and code (fenced blocks and spans), in turn. */
const pieces = (text: string): readonly string[] => text.split(/(^```[\s\S]*?^```$|(?<!`)`[^`\n]+`(?!`)|``[^\n]+?``)/m)

/** The text with what `change` makes of each part that is no code. */
export const outsideCode = (text: string, change: (part: string) => string): string =>
  pieces(text)
    .map((part, i) => (i % 2 === 0 ? change(part) : part))
    .join('')

// The text of a link may hold code, but no bracket.
const LINK = /(?<=\[[^\][]*\]\()([^()\s]+(?:\([^()\s]*\))?)(?=\))/g
const HOLE = '\u0000'
/** The text with what `change` makes of each target of a link or picture. */
export const withTargets = (text: string, change: (target: string) => string): string => {
  const code: string[] = []
  const bare = pieces(text)
    .map((part, i) => (i % 2 === 0 ? part : `${HOLE}${code.push(part) - 1}${HOLE}`))
    .join('')
  return bare.replaceAll(LINK, (target) => change(target)).replaceAll(/\0(\d+)\0/g, (_, at: string) => code[Number(at)]!)
}
/** The targets of all links and pictures. */
export const targetsIn = (text: string): readonly string[] => {
  const found: string[] = []
  withTargets(text, (target) => {
    found.push(target)
    return target
  })
  return found
}

/** The anchors of a page: its headings, a second one of a name with a number. */
export const anchorsIn = (text: string): ReadonlySet<string> => {
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const [, heading] of text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/^#{1,6} (.*)$/gm)) {
    const slug = slugOf(heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    anchors.add(times === 0 ? slug : `${slug}-${times}`)
  }
  return anchors
}

/** Is it an address of the web? */
export const isOutside = (target: string): boolean => /^[a-z]+:/.test(target)

/** Links of pages (by their paths) that lead to no page or no heading. `others` says what else there is. */
export const deadLinks = (pages: ReadonlyMap<string, string>, others: (path: string) => boolean): readonly string[] => {
  const anchors = new Map<string, ReadonlySet<string>>()
  const anchorsOf = (path: string): ReadonlySet<string> => {
    if (!anchors.has(path)) anchors.set(path, anchorsIn(pages.get(path)!))
    return anchors.get(path)!
  }
  return [...pages].flatMap(([path, text]) =>
    targetsIn(text).flatMap((target) => {
      if (isOutside(target)) return []
      const [to = '', anchor] = target.split('#') as [string, string?]
      const there = to === '' ? path : to.startsWith('/') ? to.slice(1) : posix.join(posix.dirname(path), to)
      if (!pages.has(there)) return others(there) ? [] : [`${path}: there is no ${target}`]
      return anchor === undefined || anchorsOf(there).has(anchor) ? [] : [`${path}: ${there} has no heading #${anchor}`]
    }),
  )
}
