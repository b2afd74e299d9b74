import type { AskedFacts } from '../../http/responses/pauses/pause-schemas.ts'
import { showAccent } from '../form/accent.ts'
import { FormFields } from '../form/form-fields.ts'
import { formSent, type Leading, leadingHere, leadTo, redirectTo } from '../form/next-page.ts'
import { element, notify, offerSignIn, type Problem, refusalOf, show, unreachable } from '../form/page-parts.ts'

/** The page on which people answer a run. It uses no framework, and shows the texts of authors as plain text. */

const address = `/api/pauses/${encodeURIComponent(decodeURIComponent(location.pathname.split('/')[2] ?? ''))}`

class PausePage {
  /** The form that this page belongs to. */
  readonly #leading = leadingHere()
  readonly #form = element('answer', HTMLFormElement)
  readonly #fields: FormFields
  readonly #buttons = [element('approve', HTMLButtonElement), element('reject', HTMLButtonElement)]

  constructor(asked: AskedFacts) {
    document.title = asked.title
    element('title', HTMLElement).textContent = asked.title
    show('message', asked.message)
    element('facts', HTMLElement).textContent = factsOf(asked)
    this.#fields = new FormFields(element('fields', HTMLElement), asked.fields)
    if (this.#leading) {
      showAccent(this.#leading.accent)
      this.#buttons[0]!.textContent = 'Continue'
      this.#buttons[1]!.textContent = 'Decline'
    }
    this.#form.hidden = false
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault()
      void this.#answer(true)
    })
    this.#buttons[1]!.addEventListener('click', () => void this.#answer(false))
  }

  async #answer(approved: boolean): Promise<void> {
    notify('')
    if (!this.#fields.check({ isPartial: !approved })) return
    for (const button of this.#buttons) button.disabled = true
    const body = new FormData()
    body.append('approved', String(approved))
    this.#fields.addTo(body, 'fields.')
    notify('Sending…', 'busy')
    try {
      const response = await fetch(address, { method: 'POST', body })
      const answered = (await response.json()) as Problem & { outcome?: string }
      if (response.ok) {
        this.#form.hidden = true
        const mustWait = answered.outcome === 'waiting for others'
        if (mustWait) notify('Thank you. The run still waits for answers from others.')
        else await this.#goOn(approved)
        return
      }
      if (response.status === 409) this.#form.hidden = true
      const { details = [] } = answered
      const others = this.#fields.showProblems(details)
      const isShown = details.length > 0 && others.length === 0
      const text = isShown ? 'Correct the marked fields, and answer again.' : refusalOf(answered)
      notify(text ?? 'The answer could not be sent.', 'error')
    } catch {
      notify(unreachable, 'error')
    } finally {
      for (const button of this.#buttons) button.disabled = false
    }
  }

  /** Opens the next page of the form. Without one, shows the end of the form. */
  async #goOn(approved: boolean): Promise<void> {
    const leading = this.#leading
    for (let tries = 0; tries < triesMax; tries += 1) {
      const next = await nextPage()
      if (next?.state === 'asks' && next.url !== null) {
        leadTo(next.url, leading ?? { thanks: null, redirect: null, accent: null })
        return
      }
      if (next?.state !== 'works') break
      notify('One moment…', 'busy')
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
    }
    if (leading && approved && redirectTo(leading.redirect)) return
    show('message', '')
    notify(lastWords(leading, approved))
  }
}

function lastWords(leading: Leading | undefined, approved: boolean): string {
  if (!leading) return approved ? 'Approved. You can close this page.' : 'Rejected. You can close this page.'
  return approved ? (leading.thanks ?? formSent) : 'Declined. You can close this page.'
}

/** If the run takes longer, the page stops waiting for the next one. */
const triesMax = 120
const lookEveryMs = 500

/** Undefined when the request fails. This is no error for the visitor, because the answer is on disk. */
async function nextPage(): Promise<{ state: string; url: string | null } | undefined> {
  try {
    const response = await fetch(`${address}/next`)
    return response.ok ? ((await response.json()) as { state: string; url: string | null }) : undefined
  } catch {
    return undefined
  }
}

function factsOf({ until, required, answers, by }: AskedFacts): string {
  const end = until === null ? '' : `Answer before ${new Date(until).toLocaleString()}.`
  const others = required > 1 ? `${answers} of ${required} people have approved.` : ''
  return [by === null ? '' : `You answer as ${by}.`, others, end].filter(Boolean).join(' ')
}

async function open(): Promise<void> {
  try {
    const response = await fetch(address)
    const body = (await response.json()) as AskedFacts & Problem
    if (response.ok && body.kind === 'approval') new PausePage(body)
    else if (response.ok) notify('This run waits for another service, and not for a person.', 'error')
    else {
      const problem = body.error ?? 'The question cannot be shown.'
      if (body.code === 'SIGN_IN_REQUIRED') offerSignIn(problem, () => location.reload())
      else notify(problem, 'error')
    }
  } catch {
    notify('The service cannot be reached. Reload the page to try again.', 'error')
  }
}

void open()
