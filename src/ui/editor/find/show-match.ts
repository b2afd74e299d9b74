import type { Place } from './places.ts'
import type { Match } from './search.ts'

/**
 * Shows a match in the inspector, once that has drawn its fields: scrolls to the field, marks the text and, if `focus`,
 * selects it. The texts of a note and of a name are shown by the canvas and the head of the inspector.
 */
export async function showMatch(place: Place, match: Match, focus: boolean): Promise<void> {
  clearMarks()
  const field = await fieldOf(place)
  if (!field) return
  for (const details of ancestors(field, 'details')) (details as HTMLDetailsElement).open = true
  const wanted = place.text.slice(match.from, match.to)
  const code = await settled(() => codeWith(field, wanted))
  if (code) {
    const { markInCode } = await import('./mark-in-code.ts')
    markInCode(code, place.text, match, focus)
    return
  }
  const control = controlWith(field, place.text)
  const shown = control ?? field.firstElementChild ?? field
  shown.scrollIntoView({ block: 'center' })
  shown.setAttribute('data-found', '')
  if (!control || control instanceof HTMLSelectElement) return
  const isExact = control.value === place.text
  const from = isExact ? match.from : Math.max(0, control.value.toLowerCase().indexOf(wanted.toLowerCase()))
  if (focus) control.focus({ preventScroll: true })
  try {
    control.setSelectionRange(from, from + wanted.length)
  } catch {
    // A field for numbers has no selection.
  }
  markBehind(control, from, from + wanted.length)
}

/** Removes the marks of the match that was shown last. */
export function clearMarks(): void {
  globalThis.CSS?.highlights?.delete('found')
  for (const element of document.querySelectorAll('[data-found]')) element.removeAttribute('data-found')
}

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

async function fieldOf({ owner, part, path }: Place): Promise<HTMLElement | undefined> {
  if (part === 'note') return undefined
  const inspector = `[data-inspects="${CSS.escape(owner)}"]`
  const inner = part === 'name' ? 'header' : `[data-parameter="${CSS.escape(String(path[0]))}"]`
  return await settled(() => document.querySelector<HTMLElement>(`${inspector} ${inner}`) ?? undefined)
}

/** Waits up to half a second for a part of the page. A field without code has none; only its placeholder is awaited. */
async function settled<Found>(find: () => Found | undefined): Promise<Found | undefined> {
  for (let frames = 0; frames < 30; frames += 1) {
    const found = find()
    if (found !== undefined) return found
    await new Promise((resolve) => requestAnimationFrame(resolve))
  }
  return undefined
}

/** The code editor of a field that has the text; undefined while it loads and for a field without code. */
function codeWith(field: HTMLElement, wanted: string): HTMLElement | null | undefined {
  const hosts = [...field.querySelectorAll<HTMLElement>('[data-code]')]
  if (hosts.length === 0) return field.querySelector('.skeleton') ? undefined : null
  const editors = hosts.flatMap((host) => host.shadowRoot?.querySelector<HTMLElement>('.cm-editor') ?? [])
  const low = wanted.toLowerCase()
  return editors.find((editor) => editor.textContent?.toLowerCase().includes(low)) ?? editors[0]
}

function controlWith(field: HTMLElement, text: string): Control | undefined {
  const controls = [...field.querySelectorAll<Control>('input, textarea, select')]
  return (
    controls.find(({ value }) => value === text) ?? controls.find(({ value }) => value.includes(text)) ?? controls[0]
  )
}

/** A text area for templates draws its text on a layer behind it, where the match can be marked. */
function markBehind(control: Control, from: number, to: number): void {
  const layer = control.previousElementSibling
  if (layer?.getAttribute('aria-hidden') !== 'true' || !globalThis.CSS?.highlights) return
  const range = document.createRange()
  let at = 0
  let isOpen = false
  const walker = document.createTreeWalker(layer, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const length = node.textContent?.length ?? 0
    if (!isOpen && from < at + length) {
      range.setStart(node, from - at)
      isOpen = true
    }
    if (isOpen && to <= at + length) {
      range.setEnd(node, to - at)
      CSS.highlights.set('found', new Highlight(range))
      return
    }
    at += length
  }
}

function ancestors(element: Element, selector: string): Element[] {
  const found: Element[] = []
  for (let at = element.closest(selector); at; at = at.parentElement?.closest(selector) ?? null) found.push(at)
  return found
}
