import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { oneOf } from '../../../domain/one-of.ts'
import type { Door } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import { isoTime, maybe, Time } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'

const Bytes = t.Number({ description: 'Bytes.' })
const Service = t.Object({
  version: t.String(),
  commit: t.String(),
  bun: t.String(),
  startedAt: Time,
  health: t.Object({
    isWell: t.Boolean({ description: 'Runs can be recorded.' }),
    waiting: t.Integer({ description: 'Ended runs whose log entries are not on disk yet.' }),
  }),
  retention: t.Object({ days: t.Integer(), bytesMax: Bytes }),
  limits: t.Array(t.Object({ setting: t.String(), description: t.String(), value: t.String() }), {
    description: 'The limits in force for workspaces and visitors.',
  }),
  storage: maybe(
    t.Object(
      {
        databaseBytes: Bytes,
        freeBytes: t.Number({ description: 'Unused bytes inside the database.' }),
        walBytes: Bytes,
        diskFreeBytes: maybe(t.Number({ description: 'Null when the store cannot know it.' })),
        files: oneOf(['disk', 's3']),
        backups: maybe(
          t.Object(
            {
              address: t.String({ description: 'The bucket and path, as in MILLRACE_BACKUP.' }),
              everyMs: t.Integer({ description: 'Time between two backups.' }),
              lastAt: maybe(Time),
              lastBytes: maybe(Bytes),
              failure: maybe(t.String({ description: 'Why the latest attempt failed; null if it succeeded.' })),
              pruneFailure: maybe(
                t.String({ description: 'Why the latest backup could not delete old ones; null if it could.' }),
              ),
              isRunning: t.Boolean(),
            },
            { description: 'The scheduled backups; null when there are none.' },
          ),
        ),
      },
      { description: "For the installation's owner; null for everyone else." },
    ),
  ),
})

/** The service itself: its version, health and disk usage. */
export function serviceRoutes({ store, writerHealth, installation, backups }: Services, door: Door) {
  return new Elysia({ prefix: '/service' }).get(
    '',
    async ({ request, set }) => {
      const { userId } = await door.requireSession(request, set)
      const owner = await store.findOwner()
      const { healthy, waiting } = writerHealth()
      const { build, startedAt, retention, limits } = installation
      return {
        ...build,
        startedAt: isoTime(startedAt),
        health: { isWell: healthy, waiting },
        retention,
        limits: [...limits],
        storage: owner?.userId === userId ? await storageFacts() : null,
      }
    },
    editorRoute({
      name: 'getService',
      summary: 'Get version, health, retention, limits and disk usage',
      responses: { 200: Service },
    }),
  )

  function backupFacts() {
    const facts = backups()
    if (!facts) return null
    const { address, everyMs, last, failure = null, pruneFailure = null, isRunning } = facts
    return {
      ...{ address, everyMs, failure, pruneFailure, isRunning },
      lastAt: last ? isoTime(last.at) : null,
      lastBytes: last?.bytes ?? null,
    }
  }

  async function storageFacts() {
    const { databaseBytes, freeBytes, walBytes, diskFreeBytes } = await store.measure()
    return { databaseBytes, freeBytes, walBytes, diskFreeBytes, files: installation.files, backups: backupFacts() }
  }
}
