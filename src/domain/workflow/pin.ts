/** The most bytes of one pinned output, as JSON. */
export const pinBytesMax = 1_048_576
/** The most bytes of all pinned outputs of a workflow. */
export const pinsBytesMax = 10 * pinBytesMax
