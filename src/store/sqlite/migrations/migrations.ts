import type { Connection } from '../connection.ts'
import foundation from './001-foundation.sql' with { type: 'text' }
import fanOutRecords from './002-owing-runs.sql' with { type: 'text' }
import runFacts from './003-run-facts.sql' with { type: 'text' }
import pins from './004-pins.sql' with { type: 'text' }
import sealedDocuments from './005-sealed-documents.sql' with { type: 'text' }
import jobWaits from './006-job-waits.sql' with { type: 'text' }
import credentials from './007-credentials.sql' with { type: 'text' }
import connectors from './008-connectors.sql' with { type: 'text' }
import pauses from './009-pauses.sql' with { type: 'text' }
import idempotentResponses from './010-idempotent-responses.sql' with { type: 'text' }
import pauseIndexes from './011-pause-indexes.sql' with { type: 'text' }
import pauseEvents from './012-pause-events.sql' with { type: 'text' }
import reminders from './013-reminders.sql' with { type: 'text' }
import workflowLists from './014-workflow-lists.sql' with { type: 'text' }
import oauth from './015-oauth.sql' with { type: 'text' }
import workflowTests from './016-workflow-tests.sql' with { type: 'text' }
import storeEntries from './017-store-entries.sql' with { type: 'text' }
import polls from './018-polls.sql' with { type: 'text' }
import alerts from './019-alerts.sql' with { type: 'text' }

/** In order. The statements of a released migration never change. The position, from 1, is a migration's number. */
export const migrations: readonly string[] = [
  foundation,
  fanOutRecords,
  runFacts,
  pins,
  sealedDocuments,
  jobWaits,
  credentials,
  connectors,
  pauses,
  idempotentResponses,
  pauseIndexes,
  pauseEvents,
  reminders,
  workflowLists,
  oauth,
  workflowTests,
  storeEntries,
  polls,
  alerts,
]

/** Applies the missing migrations, each in one transaction. When two processes start at once, only one applies them. */
export function migrate(connection: Connection, list: readonly string[] = migrations): void {
  while (schemaVersionOf(connection) < list.length) {
    connection.write(() => {
      const version = schemaVersionOf(connection)
      const sql = list[version]
      if (sql === undefined) return
      connection.script(sql)
      connection.script(`PRAGMA user_version = ${version + 1}`)
    })
  }
}

export function schemaVersionOf(connection: Connection): number {
  return connection.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0
}
