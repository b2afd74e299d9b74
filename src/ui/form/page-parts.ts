/** The parts that the pages for people share: forms, approvals and chats. */

export type Problem = { error?: string; code?: string; details?: readonly { path: string; message: string }[] }

export function element<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id)
  if (!(found instanceof kind)) throw new Error(`The page has no element ${id}`)
  return found
}

/** Shows a sentence below the form. `done`: it replaces the form and gets the focus. */
export function notify(text: string, kind: 'error' | 'busy' | 'done' = 'done'): void {
  const notice = element('notice', HTMLElement)
  notice.textContent = text
  notice.dataset['kind'] = kind
  notice.hidden = text === ''
  if (text !== '' && kind === 'done') notice.focus()
}

export function show(id: string, text: string): void {
  const shown = element(id, HTMLElement)
  shown.textContent = text
  shown.hidden = text === ''
}

/** Shows the link for signing in, which opens another tab. `onReturn` runs when people come back from there. */
export function offerSignIn(message: string, onReturn?: () => void): void {
  notify(message, 'error')
  element('sign-in', HTMLElement).hidden = false
  if (onReturn) addEventListener('focus', onReturn, { once: true })
}

/** Explains why something was not sent, to people who do not know the settings. */
export function refusalOf({ error, code, details = [] }: Problem): string | undefined {
  if (code !== 'PAYLOAD_TOO_LARGE' || details.length > 0) return error
  return 'This is too large to send. Shorten the texts, or choose fewer or smaller files.'
}

export const unreachable = 'The service cannot be reached. Check your connection, and try again.'
