import { DocsSearch, type SearchEntry, type SearchResult } from './search.ts'

/**
 * The search field and the list below it. `/` focuses the field, the arrow keys walk through the results, Enter opens
 * one, Escape closes the list. The index is loaded when the field first has the focus.
 */
export class SearchBox {
  readonly #form = element('search', HTMLFormElement)
  readonly #field = element('query', HTMLInputElement)
  readonly #list = element('results', HTMLUListElement)
  readonly #found = element('found', HTMLElement)
  #search: Promise<DocsSearch> | undefined

  show(): void {
    this.#form.hidden = false
    this.#field.addEventListener('focus', () => void this.#load().catch(() => undefined))
    this.#field.addEventListener('input', () => void this.#update())
    this.#form.addEventListener('keydown', (event) => this.#onKey(event))
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault()
      this.#links()[0]?.click()
    })
    this.#list.addEventListener('click', () => this.#close())
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      event.preventDefault()
      this.#field.select()
    })
    document.addEventListener('pointerdown', ({ target }) => {
      if (target instanceof Node && !this.#form.contains(target)) this.#close()
    })
  }

  async #update(): Promise<void> {
    const query = this.#field.value.trim()
    if (query === '') return this.#close()
    try {
      const results = (await this.#load()).find(query)
      // Another letter was typed while the index was loading.
      if (query === this.#field.value.trim()) this.#showResults(query, results)
    } catch {
      this.#showMessage('The search could not be loaded. Reload the page.')
    }
  }

  /** Loads again when the last attempt failed. */
  #load(): Promise<DocsSearch> {
    this.#search ??= fetchIndex(this.#form.dataset['index']!).catch((error) => {
      this.#search = undefined
      throw error
    })
    return this.#search
  }

  #showResults(query: string, results: readonly SearchResult[]): void {
    if (results.length === 0) {
      this.#showMessage(`Nothing found for “${query}”.`)
      return
    }
    this.#list.replaceChildren(...results.map(resultItem))
    this.#list.hidden = false
    this.#found.textContent = results.length === 1 ? '1 result' : `${results.length} results`
  }

  #showMessage(text: string): void {
    const item = document.createElement('li')
    item.textContent = text
    this.#list.replaceChildren(item)
    this.#list.hidden = false
    this.#found.textContent = text
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      this.#field.focus()
      this.#close()
      return
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    const places = [this.#field, ...this.#links()]
    const now = places.indexOf(document.activeElement as HTMLInputElement)
    const next = now + (event.key === 'ArrowDown' ? 1 : -1)
    places.at(next % places.length)?.focus()
  }

  #links(): HTMLAnchorElement[] {
    return this.#list.hidden ? [] : [...this.#list.querySelectorAll('a')]
  }

  #close(): void {
    this.#list.hidden = true
    this.#found.textContent = ''
  }
}

async function fetchIndex(address: string): Promise<DocsSearch> {
  const response = await fetch(address)
  if (!response.ok) throw new Error(`GET ${address} gave ${response.status}.`)
  return new DocsSearch((await response.json()) as SearchEntry[])
}

function resultItem({ address, page, heading, excerpt }: SearchResult): HTMLLIElement {
  const link = document.createElement('a')
  link.href = address
  const title = document.createElement('strong')
  title.textContent = heading
  link.append(title)
  if (heading !== page) {
    const place = document.createElement('span')
    place.textContent = page
    link.append(' ', place)
  }
  const text = document.createElement('p')
  for (const piece of excerpt) {
    if (!piece.isMatch) {
      text.append(piece.text)
      continue
    }
    const mark = document.createElement('mark')
    mark.textContent = piece.text
    text.append(mark)
  }
  link.append(text)
  const item = document.createElement('li')
  item.append(link)
  return item
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select')
}

function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id)
  if (!(found instanceof kind)) throw new Error(`The page has no ${kind.name} with the id "${id}".`)
  return found
}
