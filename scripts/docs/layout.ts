import { escapeHtml } from './markdown.ts'
import type { Group, Page } from './pages.ts'

/** Addresses of the files that every page loads. */
export type Frame = { icon: string; font: string; style: string; docsStyle: string; theme: string; script: string }

export type Site = { groups: readonly Group[]; frame: Frame; searchIndex: string }

/** A page of `docs/` with the pages before and after it. */
export function pageHtml(site: Site, page: Page): string {
  const all = site.groups.flatMap(({ pages }) => pages)
  const index = all.indexOf(page)
  const step = (to: Page | undefined, rel: string, label: string) =>
    to ? `<a rel="${rel}" href="/docs/${to.name}"><small>${label}</small>${escapeHtml(to.title)}</a>` : '<span></span>'
  const steps = `${step(all[index - 1], 'prev', 'Previous')}${step(all[index + 1], 'next', 'Next')}`
  const main = `<article class="docs-text">${page.html}</article><nav class="docs-steps" aria-label="Pages">${steps}</nav>`
  return shell(site, { title: page.title, description: page.description, main, current: page })
}

/** `/docs`: every page with its description. */
export function contentsHtml(site: Site): string {
  const description = 'How to build, run and operate workflows with Millrace.'
  const groups = site.groups.map(({ group, pages }) => {
    const cards = pages.map(
      ({ name, title, description }) =>
        `<li><a href="/docs/${name}">${escapeHtml(title)}</a><p>${escapeHtml(description)}</p></li>`,
    )
    return `<h2>${escapeHtml(group)}</h2><ul class="docs-cards">${cards.join('')}</ul>`
  })
  const reference =
    '<li><a href="/swagger">API reference</a><p>Every route, with its parameters and responses.</p></li>'
  const main =
    `<div class="docs-text"><h1>Documentation</h1><p>${description}</p>${groups.join('')}` +
    `<h2>Reference</h2><ul class="docs-cards">${reference}</ul></div>`
  return shell(site, { title: 'Documentation', description, main })
}

export function notFoundHtml(site: Site): string {
  const main =
    '<div class="docs-text"><h1>Page not found</h1><p>The documentation has no page at this address. ' +
    'Search for it, or start from the <a href="/docs">list of pages</a>.</p></div>'
  return shell(site, { title: 'Page not found', description: '', main })
}

type Content = { title: string; description: string; main: string; current?: Page }

function shell(site: Site, { title, description, main, current }: Content): string {
  const { frame } = site
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(description)}">
<title>${escapeHtml(title)} · Millrace</title>
<link rel="icon" type="image/svg+xml" href="${frame.icon}">
<link rel="stylesheet" href="${frame.style}">
<link rel="stylesheet" href="${frame.docsStyle}">
<link rel="preload" as="font" type="font/woff2" href="${frame.font}" crossorigin>
<script src="${frame.theme}"></script>
<script type="module" src="${frame.script}"></script>
</head>
<body class="docs">
<a class="docs-skip" href="#content">Skip to the page</a>
<header class="docs-top">
<button type="button" class="docs-menu" popovertarget="contents">Contents</button>
<a class="docs-home" href="/docs"><img src="${frame.icon}" alt="" width="22" height="22"><span>Millrace</span> docs</a>
<form id="search" role="search" class="docs-search" data-index="${site.searchIndex}" hidden>
<input id="query" type="search" placeholder="Search" aria-label="Search the documentation" aria-keyshortcuts="/" aria-controls="results" autocomplete="off" spellcheck="false">
<kbd aria-hidden="true">/</kbd>
<p id="found" role="status" class="docs-unseen"></p>
<ul id="results" class="docs-results" aria-label="Search results" hidden></ul>
</form>
<nav class="docs-links" aria-label="Millrace"><a href="/swagger">API reference</a><a href="/">Dashboard</a></nav>
</header>
<div class="docs-columns">
<nav id="contents" class="docs-contents" aria-label="Documentation" popover>${sidebar(site.groups, current)}</nav>
<main id="content" tabindex="-1">${main}</main>
</div>
</body>
</html>
`
}

/** Every page; the headings of the one that is shown. */
function sidebar(groups: readonly Group[], current: Page | undefined): string {
  return groups
    .map(({ group, pages }) => {
      const items = pages.map((page) => {
        const isCurrent = page === current
        const link = `<a href="/docs/${page.name}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(page.title)}</a>`
        return `<li>${link}${isCurrent ? headingList(page) : ''}</li>`
      })
      return `<p>${escapeHtml(group)}</p><ul>${items.join('')}</ul>`
    })
    .join('')
}

function headingList({ headings }: Page): string {
  const items = headings
    .filter(({ depth }) => depth === 2)
    .map(({ text, anchor }) => `<li><a href="#${anchor}">${escapeHtml(text)}</a></li>`)
  return items.length === 0 ? '' : `<ul class="docs-headings">${items.join('')}</ul>`
}
