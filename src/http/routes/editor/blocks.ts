import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { registry } from '../../../blocks/registry.ts'
import type { BlockDefinition, ParameterMode } from '../../../engine/block.ts'
import { answers, listOf, maybe, oneOf } from '../../answers.ts'
import type { Door } from '../../door.ts'
import { operation } from '../../operation.ts'
import { plainSchema } from '../../plain-schema.ts'

const modes = ['template', 'json', 'literal', 'code', 'expressions', 'tools'] as const

const BlockType = t.Object(
  {
    type: t.String(),
    label: t.String(),
    description: t.String(),
    kind: oneOf(['trigger', 'step', 'container']),
    parameters: t.Unsafe<ParametersSchema>({
      type: 'object',
      additionalProperties: true,
      description: 'A JSON schema: the form of the block is drawn from it.',
    }),
    modes: t.Record(t.String(), oneOf(modes), { description: 'How parameters are read; `template` when absent.' }),
    outputs: t.Array(t.String()),
    mayFail: t.Boolean({ description: 'Whether an `error` edge may leave it.' }),
    starts: maybe(t.String({ description: 'The kind of run that a trigger starts.' })),
    streams: maybe(t.String({ description: 'The output that comes piece by piece.' })),
  },
  { $id: 'BlockType' },
)

/** What forms are drawn from: JSON schema, as the parameters of blocks use it. */
export type ParameterSchema = {
  type?: string
  title?: string
  description?: string
  default?: unknown
  enum?: readonly string[]
  items?: ParameterSchema
  properties?: Readonly<Record<string, ParameterSchema>>
  required?: readonly string[]
  additionalProperties?: ParameterSchema | boolean
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}
export type ParametersSchema = { properties: Readonly<Record<string, ParameterSchema>>; required?: readonly string[] }

/** The block types there are, for the palette and the forms of the editor. */
export function blockRoutes(door: Door) {
  return new Elysia({ prefix: '/blocks' }).get(
    '',
    async ({ request, set }) => {
      await door.enterSession(request, set)
      return { data: [...registry.values()].map(shown) }
    },
    {
      response: answers({ 200: listOf(BlockType) }),
      detail: operation({ name: 'listBlockTypes', summary: 'List the block types', tag: 'Editor', access: 'session' }),
    },
  )
}

function shown(definition: BlockDefinition) {
  const { type, label, description, kind, parameters, outputs, mayFail, starts, streams } = definition
  return {
    ...{ type, label, description, kind, mayFail },
    parameters: plainSchema(parameters, {}) as unknown as ParametersSchema,
    modes: modesOf(definition),
    outputs: [...outputs],
    starts: starts ?? null,
    streams: streams ?? null,
  }
}

/** A mode that depends on other parameters is that of a block whose parameters are their defaults. */
function modesOf({ modes: written = {} }: BlockDefinition): Record<string, ParameterMode> {
  return Object.fromEntries(
    Object.entries(written).flatMap(([name, mode]) => {
      const settled = typeof mode === 'function' ? mode({}) : mode
      return settled === undefined ? [] : [[name, settled]]
    }),
  )
}
