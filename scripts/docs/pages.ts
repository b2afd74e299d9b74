import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { contents } from './contents.ts'
import { type RenderedPage, renderPage } from './markdown.ts'

/** A page of `docs/`; `name` is its file name without `.md`. */
export type Page = RenderedPage & { name: string }

export type Group = { group: string; pages: Page[] }

export const docsFolder = resolve(import.meta.dir, '..', '..', 'docs')

/**
 * The pages in reading order. A page that the table of contents does not list comes last. `imageAddress` gives the
 * address that serves a file of `docs/images/`.
 */
export function readPages(imageAddress: (name: string) => string): Group[] {
  const names = existsSync(docsFolder)
    ? readdirSync(docsFolder).flatMap((file) => (file.endsWith('.md') ? [basename(file, '.md')] : []))
    : []
  const known = new Set(contents.flatMap(({ pages }) => pages))
  const others = { group: 'More', pages: names.filter((name) => !known.has(name)).toSorted() }
  return [...contents, others]
    .map(({ group, pages }) => ({
      group,
      pages: pages.filter((name) => names.includes(name)).map((name) => readPage(name, imageAddress)),
    }))
    .filter(({ pages }) => pages.length > 0)
}

/** The Markdown of a page. */
export function sourceOf(name: string): string {
  return readFileSync(join(docsFolder, `${name}.md`), 'utf8')
}

function readPage(name: string, imageAddress: (name: string) => string): Page {
  try {
    const image = (href: string) => imageAddress(imageNameOf(href))
    return { name, ...renderPage(sourceOf(name), { link: (href) => siteAddress(href, image), image }) }
  } catch (cause) {
    throw new Error(`docs/${name}.md cannot be shown: ${(cause as Error).message}`, { cause })
  }
}

function imageNameOf(href: string): string {
  const name = /^images\/([\w.-]+)$/.exec(href)?.[1]
  if (name === undefined || !existsSync(join(docsFolder, 'images', name))) throw new Error(`no such image: ${href}`)
  return name
}

/** Where a link of a page leads on the site. Files elsewhere in the repository are not part of it. */
function siteAddress(href: string, image: (href: string) => string): string | undefined {
  if (/^([a-z]+:|#|\/)/.test(href)) return href
  if (href.startsWith('images/')) return image(href)
  const page = /^([a-z0-9-]+)\.md(#.*)?$/.exec(href)
  if (page) return `/docs/${page[1]}${page[2] ?? ''}`
  return /^\.\.\/README\.md(#|$)/.test(href) ? '/docs' : undefined
}
