import type { Static, TObject } from '@sinclair/typebox'
import type { ErrorDetail } from '../../../../domain/errors.ts'
import type { Caller, Need } from '../../../access/auth.ts'
import type { Services } from '../../../services.ts'
import type { StartManualRun } from '../../editor/manual-start.ts'
import type { ApiCall } from '../api-call.ts'

/** The services and the caller of a building tool. */
export type ToolContext = {
  services: Services
  /** The caller, who sees only the workspace of the endpoint. */
  caller: Caller
  workspaceId: string
  api: ApiCall
  startRun: StartManualRun
  /** Does work with whole documents one after the other, because each of them takes many times its size. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>
  /** Aborts when the client cancels the call. */
  signal: AbortSignal
}

/** A tool for those who build workflows. */
export type BuildingTool = {
  name: string
  title: string
  description: string
  /** The permission of the caller in the workspace. */
  needs: Need
  input: TObject
  /** Whether the tool reads or writes whole documents. It then runs in a turn. */
  hasDocument?: boolean
  /** Explains mistakes in `given` better than the schema does. */
  explain?(given: Record<string, unknown>, problems: readonly ErrorDetail[]): ErrorDetail[]
  run(context: ToolContext, given: Record<string, unknown>): Promise<unknown>
}

/** `run` gets what `input` describes: it was checked before. */
export function defineTool<Input extends TObject>(
  tool: Omit<BuildingTool, 'input' | 'run'> & {
    input: Input
    run(context: ToolContext, given: Static<Input>): Promise<unknown>
  },
): BuildingTool {
  return tool as BuildingTool
}
