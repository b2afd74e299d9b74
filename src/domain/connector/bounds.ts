/** The limits of a connector that a workspace adds. */
export const connectorBounds = Object.freeze({
  /** UTF-8 bytes of the document as JSON. */
  bytesMax: 1_048_576,
  operationsMax: 1_000,
  parametersMax: 200,
  /** Levels of a parameter's schema. */
  depthMax: 12,
  perWorkspaceMax: 200,
  workspaceBytesMax: 16_777_216,
})

export const connectorId = /^[a-z0-9][a-z0-9-]{0,63}$/
export const operationId = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/
