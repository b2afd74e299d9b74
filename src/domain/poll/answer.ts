/** Which items of the first poll start a run: none, all, or the newest. */
export const firstPolls = ['skip', 'all', 'latest'] as const
export type FirstPoll = (typeof firstPolls)[number]

/** Headers that a poll sends back with its next request, so that the service need not repeat its answer. */
export type Validators = { etag?: string; lastModified?: string }

/** An item of a list. `hash`: identifies it in the memory of the poll. */
export type PolledItem = { hash: string; item: unknown }

/**
 * The answer to one poll. `items`: the newest first. `validators`: of this answer. `problem`: why items were ignored;
 * null when all of them count. `retryAfter`: the header of that name.
 */
export type PollAnswer =
  | { kind: 'items'; items: readonly PolledItem[]; validators: Validators; problem: string | null }
  | { kind: 'unchanged' }
  | { kind: 'failed'; message: string; retryAfter?: string | undefined }
