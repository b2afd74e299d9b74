import type { Redactor } from './redaction.ts'

/** The environment variables of a workspace, as its runs see them. */
export type Environment = {
  readonly values: ReadonlyMap<string, string>
  /** Undefined when there is nothing to hide. */
  readonly redactor: Redactor | undefined
}

export const noEnvironment: Environment = Object.freeze({ values: new Map<string, string>(), redactor: undefined })

/** Bounds of a workspace's environment. */
export const environmentBounds = Object.freeze({
  nameCharsMax: 128,
  /** UTF-8. */
  valueBytesMax: 65_536,
  variablesMax: 500,
  /** Of all values together. */
  bytesMax: 1_048_576,
})

/** `{{NAME}}` in a text. */
export const variableReference = /\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}/g

/** What is wrong with a variable's name, for people; undefined when it may be used as `{{NAME}}`. */
export function variableNameProblem(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    return `"${name.slice(0, 100)}" cannot be the name of a variable: write letters, digits and _, and no digit first.`
  }
  if (name.length <= environmentBounds.nameCharsMax) return undefined
  return `The name of a variable has at most ${environmentBounds.nameCharsMax} characters; this one has ${name.length}.`
}

/** What is wrong with a variable's value, for people. Never says the value. */
export function variableValueProblem(value: string): string | undefined {
  if (!value.isWellFormed()) return 'The value is no text: it holds half of a character (a lone surrogate).'
  const bytes = Buffer.byteLength(value)
  if (bytes <= environmentBounds.valueBytesMax) return undefined
  return `The value has ${bytes} bytes; a variable holds ${environmentBounds.valueBytesMax} at most.`
}

/** What a sealed value is bound to. */
export function variableContext(workspaceId: string, name: string): string {
  return `environment/${workspaceId}/${name}`
}
