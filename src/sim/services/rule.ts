import type { SimValues } from '../import/sim-values.ts'
import type { Read } from './read.ts'

/** The rules for the blocks of one service. The selected operation decides which rule applies. */
export type ServiceRules = {
  /** Sim's block types, in all versions. */
  types: readonly string[]
  /** The name for people. */
  service: string
  /** The ID of our connector. For services without a connector, a prefix for the names of credentials. */
  connector: string
  /** The kind of the credential, and the sub-blocks that hold its secret in Sim. */
  credential?: { kind: string; secrets?: readonly string[] }
  /** Sentences about further parts of the credential, such as its base URL. */
  credentialNotes?: (values: SimValues) => readonly string[]
  /** The operation of blocks that do not name one. */
  usual: string
  /** Chooses the rule for an operation that depends on other sub-blocks. */
  choose?: (operation: string, values: SimValues) => string
  /** By Sim's ID of the operation, or by a name that `choose` returns. */
  operations: Readonly<Record<string, OperationRule | RequestRule>>
  /** Sub-blocks without a meaning here. */
  drop?: readonly string[]
}

type CommonRule = {
  /** Our paths of outputs, by Sim's. The path for `*` precedes every other path. */
  outputs?: Readonly<Record<string, string>>
  /** Whole sentences about the differences. */
  notes?: readonly string[]
  /** Why this block cannot be mapped after all. Completes the sentence "This block needs …". */
  needs?: (values: SimValues) => string | undefined
}

/** Maps an operation of the service to an operation of our connector. */
export type OperationRule = CommonRule & {
  operation: string
  params?: Readonly<Record<string, Read>>
  /** The most items of a long list. */
  maxItems?: Read
}

/** Maps an operation to a request of an API block. `path`: the values of `{name}` in the URL. */
export type RequestRule = CommonRule & {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string | ((values: SimValues) => string)
  path?: Readonly<Record<string, Read>>
  query?: Readonly<Record<string, Read>>
  headers?: Readonly<Record<string, string>>
  body?: Readonly<Record<string, Read>>
  /** The members that the model fills in if a tool of an agent leaves them empty. Default: the members of `path`. */
  asks?: readonly string[]
}
