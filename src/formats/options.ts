import { invalidOption } from './format-error.ts'

type Options = Readonly<Record<string, unknown>>

/** Options may come from references, so their types are checked again here. Null counts as absent. */

export function textOption(options: Options, name: string, usual: string): string {
  const value = options[name] ?? usual
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw invalidOption(name, 'must be a text.')
}

/** A text that may be empty, which means the usual one. */
export function filledOption(options: Options, name: string, usual: string): string {
  return textOption(options, name, usual).trim() === '' ? usual : textOption(options, name, usual)
}

export function flagOption(options: Options, name: string, usual: boolean): boolean {
  const value = options[name] ?? usual
  if (typeof value === 'boolean') return value
  if (value === 'true' || value === 'false') return value === 'true'
  if (value === '') return usual
  throw invalidOption(name, 'must be true or false.')
}

export function countOption(options: Options, name: string): number | undefined {
  const value = options[name]
  if (value === undefined || value === null || value === '') return undefined
  const count = typeof value === 'string' ? Number(value) : value
  if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) return count
  throw invalidOption(name, 'must be a whole number that is not negative.')
}

export function choiceOption<Choice extends string>(
  options: Options,
  name: string,
  choices: readonly Choice[],
  usual: Choice,
): Choice {
  const value = filledOption(options, name, usual)
  const found = choices.find((choice) => choice === value)
  if (found !== undefined) return found
  throw invalidOption(name, `must be one of ${choices.join(', ')}.`)
}

/** A list of texts, or one text with commas between them. Undefined when there is none. */
export function listOption(options: Options, name: string): string[] | undefined {
  const value = options[name]
  if (value === undefined || value === null || value === '') return undefined
  const items = typeof value === 'string' ? itemsIn(value) : asList(value, name)
  if (items.length > listItemsMax) throw invalidOption(name, `has more than ${listItemsMax} items.`)
  const texts = items.map((item) => {
    if (typeof item === 'string' || typeof item === 'number') return String(item)
    throw invalidOption(name, 'must be a list of texts.')
  })
  return texts.length === 0 ? undefined : texts
}

/** Forms write a list as JSON when an item has a comma. */
function itemsIn(text: string): unknown[] {
  if (text.trimStart().startsWith('[')) {
    try {
      return JSON.parse(text) as unknown[]
    } catch {}
  }
  return text.split(',').map((item) => item.trim())
}

function asList(value: unknown, name: string): unknown[] {
  if (Array.isArray(value)) return value as unknown[]
  throw invalidOption(name, 'must be a list of texts.')
}

const listItemsMax = 16_384
