import { isObject } from '../../../domain/run/input.ts'
import { asText, type PathStep } from '../../../domain/workflow/reference.ts'
import { readSimTool, textOf } from '../../sim-document.ts'
import type { BlockToMap, MappedBlock, PlaceholderBeside } from '../mapping.ts'
import type { SimValues } from '../sim-values.ts'
import { objectsOf } from './agent-tools.ts'
import { inputFormatOf } from './triggers.ts'

/** A block that waits for a person becomes an approval, with the data as its message and the form as its fields. */
export function mapHuman({ block, values }: BlockToMap): MappedBlock {
  const message = messageOf(values)
  const fields = inputFormatOf(values).map(({ name, type, description, required }) => ({
    ...{ name, type: type === 'object' ? 'string' : type },
    ...(description === undefined ? {} : { description }),
    ...(required ? { required } : {}),
  }))
  const beside = notificationsOf(values, block.id, block.name)
  return {
    type: 'approval',
    params: {
      title: block.name.trim().slice(0, 200) || 'Approval',
      ...(message === '' ? {} : { message }),
      ...(fields.length > 0 ? { fields } : {}),
    },
    output: approvalOutput,
    beside,
    notes: [
      'People now approve or reject. The run continues at the same connection after both: check "approved" there.',
    ],
  }
}

/** Writes the data as lines of text. */
function messageOf(values: SimValues): string {
  const mode = textOf(values.peek('dataMode'))
  values.drop('dataMode', 'operation')
  const rows = objectsOf(values.peek('builderData'))
  if (rows.length > 0) {
    values.take('builderData')
    return rows
      .filter(({ name }) => textOf(name) !== '')
      .map(({ name, value }) => `${textOf(name)}: ${asText(value)}`)
      .join('\n')
  }
  return mode === 'json' || values.peek('data') !== undefined ? asText(values.take('data')) : ''
}

function notificationsOf(values: SimValues, id: string, name: string): PlaceholderBeside[] {
  const tools = values.json('notification')
  return (Array.isArray(tools) ? tools : []).filter(isObject).flatMap((entry, index): PlaceholderBeside[] => {
    const tool = readSimTool(entry)
    if (!tool) return []
    const what = tool.title || tool.type || 'notification'
    return [
      {
        ...{ suffix: `notify-${index + 1}`, name: `${name} ${what}`, from: tool.type || 'tool', original: entry },
        needs: `a block that sends the link of the approval with "${what}"`,
        values: { part: 'notification', of: id, index },
        leaves: 'notify',
      },
    ]
  })
}

const fieldsOf = new Set<PathStep | undefined>(['submission', 'resumeInput'])
const same = new Set<PathStep | undefined>(['url', 'fields', 'approved', 'by', 'timedOut', 'answers'])

function approvalOutput(path: readonly PathStep[]): readonly PathStep[] | undefined {
  const [first, ...rest] = path
  if (first === 'resumeEndpoint') return ['callbackUrl', ...rest]
  if (first === 'submittedAt') return ['at', ...rest]
  if (first === 'response') return undefined
  if (fieldsOf.has(first)) return ['fields', ...rest]
  return same.has(first) ? path : ['fields', ...path]
}
