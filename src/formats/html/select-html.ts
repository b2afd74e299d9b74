import { compile, selectAll, selectOne } from 'css-select'
import { render } from 'dom-serializer'
import type { ChildNode, Document, Element } from 'domhandler'
import { invalidOption } from '../format-error.ts'
import type { Job, Operation } from '../job.ts'
import { tooManyValues } from '../job.ts'
import { resultValuesMax } from '../limits.ts'
import { filledOption } from '../options.ts'
import { readHtml, textOf } from './read-html.ts'

/** Reads fields of an HTML document: one object, or one for each element that `each` selects. */
export const selectHtml: Operation = (job) => {
  const fields = fieldsOf(job)
  const each = filledOption(job.options, 'each', '')
  const document = readHtml(job)
  if (each === '') return job.data(read(fields, document))
  const query = selectorOf('each', each)
  const rows: Record<string, unknown>[] = []
  for (const element of selectAll(query, document) as unknown as Element[]) {
    rows.push(read(fields, element))
    if (rows.length * fields.length > resultValuesMax) throw tooManyValues()
  }
  return job.data(rows)
}

type Query = ReturnType<typeof compile<ChildNode, Element>>
type Field = {
  name: string
  query: Query | undefined
  take: 'text' | 'html' | 'attribute'
  attribute: string
  all: boolean
}

function read(fields: readonly Field[], within: Document | Element): Record<string, unknown> {
  const row: Record<string, unknown> = Object.create(null)
  for (const field of fields) row[field.name] = valueOfField(field, within)
  return row
}

function valueOfField({ query, take, attribute, all }: Field, within: Document | Element): unknown {
  const value = (element: Element) => {
    if (take === 'text') return textOf(element)
    return take === 'html' ? render(element.children) : (element.attribs[attribute] ?? null)
  }
  // A field without a selector is about the element itself.
  if (!query) return 'attribs' in within ? value(within) : null
  if (all) return (selectAll(query, within) as unknown as Element[]).map(value)
  const found = selectOne(query, within) as unknown as Element | null
  return found && value(found)
}

function fieldsOf({ options }: Pick<Job, 'options'>): Field[] {
  const given = typeof options['fields'] === 'string' ? parsed(options['fields']) : options['fields']
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidOption('fields', 'must be an object with a CSS selector for each field.')
  }
  const entries = Object.entries(given as Record<string, unknown>)
  if (entries.length === 0) throw invalidOption('fields', 'has no field. Add one, such as {"title": "h1"}.')
  if (entries.length > fieldsMax) throw invalidOption('fields', `has more than ${fieldsMax} fields.`)
  return entries.map(([name, field]) => fieldOf(name, field))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function fieldOf(name: string, given: unknown): Field {
  const place = `fields.${name}`
  const field = typeof given === 'string' ? { selector: given } : given
  if (typeof field !== 'object' || field === null) throw invalidOption(place, 'must be a CSS selector, or an object.')
  const { selector = '', take = 'text', attribute = '', all = false } = field as Record<string, unknown>
  if (take !== 'text' && take !== 'html' && take !== 'attribute') {
    throw invalidOption(place, 'has a "take" that is not text, html or attribute.')
  }
  if (take === 'attribute' && (typeof attribute !== 'string' || attribute === '')) {
    throw invalidOption(place, 'needs the name of the "attribute" to take.')
  }
  if (typeof selector !== 'string') throw invalidOption(place, 'has a "selector" that is not a text.')
  const query = selector.trim() === '' ? undefined : selectorOf(place, selector)
  return { name, query, take, attribute: String(attribute).toLowerCase(), all: all === true || all === 'true' }
}

function selectorOf(option: string, selector: string): Query {
  if (selector.length > selectorCharsMax) throw invalidOption(option, `has more than ${selectorCharsMax} characters.`)
  try {
    return compile<ChildNode, Element>(selector)
  } catch {
    throw invalidOption(option, `is not a CSS selector: ${selector.slice(0, 100)}`)
  }
}

const fieldsMax = 200
const selectorCharsMax = 1_000
