import { type Static, type TSchema, Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { registry } from '../../../blocks/registry.ts'
import { oneOf } from '../../../domain/one-of.ts'
import { recordOf } from '../../../domain/record-of.ts'
import { Loop, Parallel } from '../../../domain/workflow/workflow.ts'
import type { BlockDefinition, ParameterMode } from '../../../engine/block.ts'
import type { Door } from '../../access/door.ts'
import { plainSchema } from '../../openapi/plain-schema.ts'
import { editorRoute } from '../../openapi/route.ts'
import { listOf, maybe } from '../../responses/schema-parts.ts'

const modes = ['template', 'json', 'literal', 'code', 'expressions', 'own', 'tools'] as const

const parametersSchema = t.Unsafe<ParametersSchema>({
  type: 'object',
  additionalProperties: true,
  description: "A JSON schema, from which the editor generates the block's form.",
})

const BlockType = t.Object(
  {
    type: t.String(),
    label: t.String(),
    description: t.String(),
    kind: oneOf(['trigger', 'step', 'container']),
    parameters: parametersSchema,
    modes: recordOf(oneOf(modes), { description: 'How parameters are read; `template` when absent.' }),
    outputs: t.Array(t.String()),
    mayFail: t.Boolean({ description: 'Whether an `error` edge may leave it.' }),
    starts: maybe(t.String({ description: 'The kind of run that a trigger starts.' })),
    streams: maybe(t.String({ description: 'The output that is streamed.' })),
    ports: t.Array(t.String(), { description: 'Handles besides `source` and `error`.' }),
    branches: maybe(
      t.Object(
        { list: t.String(), prefix: t.String(), otherwise: maybe(t.String()), output: t.String() },
        {
          description:
            'Null: edges leave by `source`. Else by `<prefix><id>` for each entry of the parameter `list`, and for `otherwise`.',
        },
      ),
    ),
    container: maybe(
      t.Object(
        { member: oneOf(['loops', 'parallels']), settings: parametersSchema },
        { description: 'Where the document holds the settings of a container: by its id, in this member.' },
      ),
    ),
    givenAtSave: t.Array(t.String(), { description: 'Parameters that the service fills in when they are absent.' }),
    tools: recordOf(t.String(), {
      description: 'Block types that a tool may be, by the type of the tool.',
    }),
  },
  { $id: 'BlockType' },
)

/** The JSON schema of a block's parameters, from which forms are generated. */
export type ParameterSchema = {
  type?: string
  title?: string
  description?: string
  default?: unknown
  enum?: readonly string[]
  /** Shown instead of the values of `enum`. Technical ones, such as `POST`, have no labels. */
  'x-labels'?: Readonly<Record<string, string>>
  /** The parameter applies only while another one, a list, has one of these values. */
  when?: { parameter: string; has: readonly string[] }
  items?: ParameterSchema
  properties?: Readonly<Record<string, ParameterSchema>>
  required?: readonly string[]
  /** For an object with a `type`: the other members that apply to each type. */
  membersByType?: Readonly<Record<string, readonly string[]>>
  additionalProperties?: ParameterSchema | boolean
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  /** A secret, or a list of headers, some of which are secrets. */
  secret?: true | 'headers'
}
export type ParametersSchema = { properties: Readonly<Record<string, ParameterSchema>>; required?: readonly string[] }

/** The block types, for the palette and the forms of the editor. */
export function blockRoutes(door: Door) {
  let body: { data: ReturnType<typeof shown>[] } | undefined
  let etag = ''
  return new Elysia({ prefix: '/blocks' }).get(
    '',
    async ({ request, set }) => {
      await door.requireSession(request, set)
      if (!body) {
        body = { data: blockTypes() }
        etag = `"${Bun.hash(JSON.stringify(body)).toString(36)}"`
      }
      // Changes only with the version of the service, so browsers revalidate a cached copy.
      Object.assign(set.headers, { etag, 'cache-control': 'private, no-cache' })
      if (request.headers.get('if-none-match') === etag) {
        set.status = 304
        return undefined as never
      }
      return body
    },
    editorRoute({
      name: 'listBlockTypes',
      summary: 'List the block types',
      responses: { 200: listOf(BlockType) },
    }),
  )
}

/** The block types, described for people and programs that build workflows. */
export function blockTypes() {
  return [...registry.values()].map(shown)
}

function shown(definition: BlockDefinition) {
  const { type, label, description, kind, parameters, outputs, mayFail, starts, streams, branches, ports } = definition
  return {
    ...{ type, label, description, kind, mayFail },
    parameters: shownSchema(parameters),
    modes: modesOf(definition),
    outputs: [...outputs],
    starts: starts ?? null,
    streams: streams ?? null,
    ports: [...(ports?.ahead === undefined ? [] : [ports.ahead]), ...(ports?.others ?? [])],
    branches: branches ? { ...branches, otherwise: branches.otherwise ?? null } : null,
    container: containers[type] ?? null,
    givenAtSave: [...(definition.givenAtSave ?? [])],
    tools: Object.fromEntries(Object.entries(definition.toolBlocks ?? {}).map(([tool, block]) => [tool, block.type])),
  }
}

const containers: Readonly<Record<string, Static<typeof BlockType>['container']>> = {
  loop: { member: 'loops', settings: shownSchema(Loop) },
  parallel: { member: 'parallels', settings: shownSchema(Parallel) },
}

function shownSchema(schema: TSchema): ParametersSchema {
  return plainSchema(schema, {}) as unknown as ParametersSchema
}

/** A mode that depends on other parameters is shown for their defaults. */
function modesOf({ modes: written = {} }: BlockDefinition): Record<string, ParameterMode> {
  return Object.fromEntries(
    Object.entries(written).flatMap(([name, mode]) => {
      const settled = typeof mode === 'function' ? mode({}) : mode
      return settled === undefined ? [] : [[name, settled]]
    }),
  )
}
