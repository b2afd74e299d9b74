import type { IsoTime } from '../../text/iso-time.ts'
import type { FileObject, RunFile } from '../file.ts'
import type { RunStatus } from '../log.ts'
import type { EntryExtras, EntryFacts } from '../log-entry.ts'

/** The status of a run that has ended, as `/api/v2` names it. */
export const statusesV2: Readonly<Record<RunStatus, 'completed' | 'failed' | 'cancelled'>> = {
  success: 'completed',
  error: 'failed',
  cancelled: 'cancelled',
}

/** The ID of a version in `/api/v2`. */
export function versionIdOf(workflowId: string, version: number): string {
  return `${workflowId}:${version}`
}

/** An entry in the list of `/api/v2`, as JSON for the wire. Like `entryText`, it keeps long texts as they are. */
export function entryTextV2(
  facts: EntryFacts,
  { details, finalOutput, traceSpans, files }: EntryExtras,
  iso: IsoTime,
): string {
  let text = `{"kind":"workflow",${factsTextV2(facts, iso)},"files":${filesTextV2(files)}`
  text += `,"cost":{"total":${facts.costTotal}}`
  if (details) text += `,"workflow":${JSON.stringify(details.workflow)}`
  if (finalOutput !== undefined) text += `,"finalOutput":${finalOutput}`
  if (traceSpans !== undefined) text += `,"traceSpans":${traceSpans}`
  return `${text}}`
}

/** The members that every form of an entry has, without braces. */
export function factsTextV2(facts: EntryFacts, iso: IsoTime): string {
  const { executionId, workflowId, version, status, level, trigger, startedAt, endedAt, durationMs } = facts
  return (
    `"runId":${JSON.stringify(executionId)},"workflowId":${JSON.stringify(workflowId)},` +
    `"deploymentVersionId":${version > 0 ? JSON.stringify(versionIdOf(workflowId, version)) : null},` +
    `"status":"${statusesV2[status]}",` +
    `"level":"${level}","trigger":"${trigger}",` +
    `"startedAt":"${iso(startedAt)}","endedAt":"${iso(endedAt)}","totalDurationMs":${durationMs}`
  )
}

/** The files of a run in `/api/v2`. The ID of a file is its place in the list. */
export function filesTextV2(runFiles: string | null | undefined): string {
  if (!runFiles) return 'null'
  const files = (JSON.parse(runFiles) as RunFile[]).map(({ file }, index) => fileV2(file, index))
  return JSON.stringify(files)
}

function fileV2({ name, size, type, url }: FileObject, index: number) {
  return { id: `${index + 1}`, name, size, type, downloadPath: url }
}
