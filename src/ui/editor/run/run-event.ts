import type { RunEvent } from '../../../http/routes/editor/runs.ts'

export type { RunEvent }

/** What is known of a block's pass that has ended. */
export type RunSpan = Extract<RunEvent, { event: 'block.ended' }>['span']
