import type { WantedCredential } from './mapping.ts'

/** Settings that only Sim's editor uses. They are kept without a note. */
const silent = new Set([
  ...['webhookUrlDisplay', 'triggerInstructions', 'triggerConfig', 'triggerId', 'triggerPath', 'samplePayload'],
  ...['scheduleInfo', 'scheduleConfig', 'selectedTriggerId', 'triggerSave', 'testUrl', 'testUrlExpiresAt'],
  ...['curlSetCommand', 'curlGetCommand', 'curlStreamCommand', 'verifyTestEvents', 'inputFormat', 'secretScope'],
])

/** Nobody reads more notes than this. */
const notesMax = 500

/** The members are those of the API's response. */
export type SimReport = {
  mapped: { blockId: string; from: string; to: string }[]
  placeholders: { blockId: string; name: string; from: string; needs: string }[]
  credentials: { name: string; kind?: string; for: string[] }[]
  notes: string[]
}

/** Collects the report of an import. */
export class Report {
  readonly mapped: SimReport['mapped'] = []
  readonly placeholders: SimReport['placeholders'] = []
  readonly #notes: string[] = []
  readonly #credentials = new Map<string, SimReport['credentials'][number]>()

  note(block: string, sentence: string): void {
    this.#notes.push(`"${block}": ${sentence}`)
  }

  /** Says which settings of a block have no counterpart. */
  noteRest(block: string, names: readonly string[]): void {
    const shown = names.filter((name) => !silent.has(name))
    if (shown.length === 0) return
    const list = shown.slice(0, 20).join(', ')
    const more = shown.length > 20 ? ` and ${shown.length - 20} more` : ''
    this.note(block, `These settings are kept but have no effect here: ${list}${more}.`)
  }

  addNotes(sentences: readonly string[]): void {
    for (const sentence of sentences) this.#notes.push(sentence)
  }

  addCredentials(wanted: readonly WantedCredential[], blockId: string): void {
    for (const { name, kind } of wanted) {
      const known = this.#credentials.get(name)
      if (!known) this.#credentials.set(name, { name, ...(kind === undefined ? {} : { kind }), for: [blockId] })
      // A block names all its credentials at once.
      else if (known.for.at(-1) !== blockId) known.for.push(blockId)
    }
  }

  get credentials(): SimReport['credentials'] {
    return [...this.#credentials.values()]
  }

  get notes(): string[] {
    const more = this.#notes.length - notesMax
    return more <= 0 ? this.#notes : [...this.#notes.slice(0, notesMax), `${more} more notes are not shown.`]
  }
}
