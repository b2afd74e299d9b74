import { type Static, Type as t } from '@sinclair/typebox'
import { recordOf } from '../../../domain/record-of.ts'
import { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import type { SimImport } from '../../../sim/import/import-sim.ts'
import { maybe, Time } from '../schema-parts.ts'
import { BlockName } from './workflow-schemas.ts'

export const SimState = recordOf(t.Unknown(), {
  description: "`blocks`, `edges`, `loops`, `parallels` and `variables` in Sim's format, without secrets.",
})

const named = { id: t.String(), name: t.String(), description: maybe(t.String()), workspaceId: t.String() }
const exported = { version: t.String(), exportedAt: Time, state: SimState }
export const ExportV2 = t.Object(
  { ...exported, workflow: t.Object({ ...named, folderPath: t.String() }) },
  { $id: 'ExportV2' },
)
export const ExportV1 = t.Object(
  { ...exported, workflow: t.Object({ ...named, folderId: maybe(t.String()) }) },
  { $id: 'ExportV1' },
)

const { name } = WorkflowDocument.properties
const imported = {
  workspaceId: t.String(),
  workflow: t.Unknown({
    description: 'A workflow file, the `state` of a file, or the JSON text of either.',
    expected: 'a workflow file',
  }),
  name: t.Optional(name),
  description: t.Optional(t.String({ maxLength: 10_000 })),
}
export const ImportV2 = t.Object(
  { ...imported, folderPath: t.Optional(t.String({ maxLength: 4096 })) },
  { $id: 'ImportV2', additionalProperties: false },
)
export const ImportV1 = t.Object(
  {
    ...imported,
    folderId: t.Optional(t.String({ description: 'The ID of a folder, as `GET /api/folders` lists it.' })),
  },
  { $id: 'ImportV1' },
)

const times = { createdAt: Time, updatedAt: Time }
export const ImportedV2 = t.Object(
  {
    ...{ ...named, folderPath: t.String(), ...times },
    blocks: t.Array(BlockName),
    warnings: t.Array(t.String(), { description: 'Placeholders, credentials to create, and other differences.' }),
  },
  { $id: 'ImportedV2' },
)
export const ImportedV1 = t.Object({ ...named, folderId: maybe(t.String()), ...times }, { $id: 'ImportedV1' })
export type ImportedV2 = Static<typeof ImportedV2>

/** The report of an import, as sentences. */
export function warningsOf({ placeholders, credentials, notes }: SimImport): string[] {
  return [
    ...placeholders.map(
      ({ name: block, from, needs }) => `The block "${block}" (${from}) is a placeholder. It needs ${needs}.`,
    ),
    ...credentials.map(({ name: credential, kind }) => {
      const ofKind = kind === undefined ? '' : ` of the kind ${kind}`
      return `Blocks use the credential "${credential}"${ofKind}. Create it if the workspace does not have it.`
    }),
    ...notes,
  ].slice(0, warningsMax)
}

/** Nobody reads more warnings than this. `POST /api/workflows/import` returns the whole report. */
const warningsMax = 200
