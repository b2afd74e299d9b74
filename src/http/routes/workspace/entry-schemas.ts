import { type Static, Type as t } from '@sinclair/typebox'
import { entryBounds, entryScopes } from '../../../domain/entry/entry.ts'
import { oneOf } from '../../../domain/one-of.ts'
import { maybe, Time } from '../../responses/schema-parts.ts'

const Entry = t.Object({
  key: t.String(),
  value: t.Unknown({ description: 'Secrets of the workspace are shown as `{{NAME}}`.' }),
  updatedAt: Time,
  expiresAt: maybe(Time),
})
export const EntryResponse = t.Object(Entry.properties, { $id: 'StoreEntry' })
export type EntryResponse = Static<typeof EntryResponse>

export const EntryList = t.Object({
  data: t.Array(Entry),
  nextCursor: t.Union([t.String(), t.Null()], { description: 'Continues the list; null at its end.' }),
  usage: t.Object(
    {
      bytes: t.Integer({ description: 'Bytes of all entries of the workspace.' }),
      bytesMax: t.Integer({ description: 'The most that `MILLRACE_STORE_BYTES` allows.' }),
    },
    { description: 'A key and a value count with their bytes, and each entry with 100 more.' },
  ),
})
export const EntryExport = t.Object(
  { data: t.Array(Entry) },
  { description: 'With `format=ndjson`, one entry a line.' },
)

export const NewEntry = t.Object({
  value: t.Unknown({ description: `Any JSON, up to ${entryBounds.valueBytesMax} bytes.` }),
  ttlMs: t.Optional(
    t.Integer({
      ...{ minimum: 1, maximum: entryBounds.ttlMsMax },
      description: 'Milliseconds until it expires. By default, it stays.',
    }),
  ),
})

const scopeParameters = {
  scope: t.Optional(
    oneOf(entryScopes, { description: '`workflow` needs `workflowId`. By default, `workspace` without it.' }),
  ),
  workflowId: t.Optional(t.String({ description: 'The workflow that the entries belong to.' })),
}
export const ScopeQuery = t.Object(scopeParameters)
const prefix = t.Optional(t.String({ description: 'Only keys that begin with this text.' }))
export const EntryQueryParameters = t.Object({
  ...scopeParameters,
  prefix,
  limit: t.Optional(
    t.Integer({ minimum: 1, maximum: entryBounds.listMax, default: 100, description: 'Maximum number of entries.' }),
  ),
  cursor: t.Optional(t.String({ description: '`nextCursor` of the previous page, with the same filters.' })),
})
export const ExportQuery = t.Object({ ...scopeParameters, prefix })
