import type { Clock } from '../domain/clock.ts'
import { type Connector, operationOf } from '../domain/connector/connector.ts'
import { AppError } from '../domain/errors.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'
import { valueAt } from '../domain/pagination/value-path.ts'
import { asText } from '../domain/workflow/reference.ts'

export type Choice = { value: unknown; label: string }
export type ChoicesQuestion = {
  workspaceId: string
  connector: string
  operation: string
  /** The parameter whose choices are wanted. */
  parameter: string
  credential: string
  /** The parameters so far: the choices of one may depend on another, such as the sheets of a spreadsheet. */
  params: Readonly<Record<string, unknown>>
  signal: AbortSignal
}

export type ChoicesOptions = {
  connectors: { find(workspaceId: string, id: string): Promise<Connector | undefined> }
  /** Calls an operation outside a run. `error`: for people. */
  call(question: ChoicesQuestion & { operation: string }): Promise<{ data: unknown } | { error: string }>
  clock: Clock
}

/** The choices of parameters that a service lists itself, such as its channels. Kept for a minute. */
export class Choices {
  readonly #options: ChoicesOptions
  readonly #known = new Map<string, { choices: readonly Choice[]; at: number }>()

  constructor(options: ChoicesOptions) {
    this.#options = options
  }

  /** NOT_FOUND when there is no such operation or no such choice, CONFLICT with the reason when the service refuses. */
  async of(question: ChoicesQuestion, isFresh = false): Promise<readonly Choice[]> {
    const { workspaceId, connector: id, operation: name, parameter, credential } = question
    const connector = await this.#options.connectors.find(workspaceId, id)
    const rule = connector && operationOf(connector, name)?.choices?.[parameter]
    const lister = rule && operationOf(connector, rule.operation)
    if (!connector || !rule || !lister) {
      throw new AppError('NOT_FOUND', `There are no choices for ${parameter.slice(0, 100)}.`)
    }
    const names = Object.keys(lister.parameters?.properties ?? {})
    const params = Object.fromEntries(
      names.flatMap((each) => (each in question.params ? [[each, question.params[each]]] : [])),
    )
    const key = JSON.stringify([workspaceId, id, rule, credential, params])
    const known = this.#known.get(key)
    if (known && !isFresh && this.#options.clock.now() - known.at < keptMs) return known.choices
    const result = await this.#options.call({ ...question, operation: rule.operation, params })
    if ('error' in result) throw new AppError('CONFLICT', result.error)
    const items: unknown[] = Array.isArray(result.data) ? (result.data as unknown[]) : []
    const choices = items.slice(0, choicesMax).flatMap((item): Choice[] => {
      const value = valueAt(item, rule.value)
      if (value === undefined || value === null) return []
      return [{ value, label: asText(valueAt(item, rule.label)) || asText(value) }]
    })
    this.#known.delete(key)
    this.#known.set(key, { choices, at: this.#options.clock.now() })
    forgetOldest(this.#known, knownMax)
    return choices
  }
}

const keptMs = 60_000
const choicesMax = 1_000
const knownMax = 200
