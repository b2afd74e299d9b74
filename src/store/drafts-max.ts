/** The maximum number of stored drafts of a workflow. */
export const draftsMax = 100
