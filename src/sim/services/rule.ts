import type { SimValues } from '../import/sim-values.ts'
import type { Read } from './read.ts'

/** How the blocks of one service are mapped. The operation that the author has selected decides the rule. */
export type ServiceRules = {
  /** The block types of Sim, all versions. */
  types: readonly string[]
  /** For people. */
  service: string
  /** The ID of our connector; for services without one, a word for the names of credentials. */
  connector: string
  /** The kind of the credential, and the sub-blocks that hold its secret in Sim. */
  credential?: { kind: string; secrets?: readonly string[] }
  /** Sentences about further parts of the credential, such as its base URL. */
  credentialNotes?: (values: SimValues) => readonly string[]
  /** The operation of blocks that do not name one. */
  usual: string
  /** The rule for an operation that does different things depending on other sub-blocks. */
  choose?: (operation: string, values: SimValues) => string
  /** By Sim's ID of the operation, or by a name that `choose` returns. */
  operations: Readonly<Record<string, OperationRule | RequestRule>>
  /** Sub-blocks without a meaning for us. */
  drop?: readonly string[]
}

type CommonRule = {
  /**
   * Where Sim's outputs are now: paths of our outputs by paths of Sim's. `*` stands for every other path, and is put in
   * front of it.
   */
  outputs?: Readonly<Record<string, string>>
  /** Whole sentences about what differs. */
  notes?: readonly string[]
  /** Why this block cannot be mapped after all. Completes the sentence "This block needs …". */
  needs?: (values: SimValues) => string | undefined
}

/** An operation of the service becomes one of our connector. */
export type OperationRule = CommonRule & {
  operation: string
  params?: Readonly<Record<string, Read>>
  /** The most items of a long list. */
  maxItems?: Read
}

/** An operation becomes a request of an API block. `path`: the values of `{name}` in the URL. */
export type RequestRule = CommonRule & {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string | ((values: SimValues) => string)
  path?: Readonly<Record<string, Read>>
  query?: Readonly<Record<string, Read>>
  headers?: Readonly<Record<string, string>>
  body?: Readonly<Record<string, Read>>
  /** The members that the model fills in when a tool of an agent leaves them empty; by default those of the path. */
  asks?: readonly string[]
}
