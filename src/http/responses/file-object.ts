import { Type as t } from '@sinclair/typebox'

const Time = t.String({ format: 'date-time', description: 'Absent for a `url` item.' })

/** A file of a run, as callers see it. */
export const FileObject = t.Object(
  {
    url: t.String({ description: 'Freshly signed in each response; for a `url` item, the address as received.' }),
    name: t.String(),
    size: t.Number({ description: 'Bytes; 0 for a `url` item.' }),
    type: t.String({ description: 'The media type.' }),
    uploadedAt: t.Optional(Time),
    expiresAt: t.Optional(Time),
  },
  { $id: 'File' },
)
