import { otherTypes } from './other-types.ts'
import { services } from './services/services.ts'

/** The result of an import for a block type of Sim. `to`: our block type; absent for placeholders. */
export type BlockTypeFate = {
  type: string
  name: string
  fate: 'mapped' | 'partly' | 'placeholder'
  to?: string
  /** For a placeholder, completes "This block needs …". For the others, says what differs. */
  remark?: string
}

const sqlRemark =
  'Create the credential of the database. Statements become placeholders if a reference in them is not a value, or ' +
  'if the columns are not known; so does the description of a database.'

const fileRemark = 'Downloads. Files of a workspace, and reading a file of the run, become placeholders.'

/** The blocks of Sim itself, which are not services, that have a counterpart. */
const core: readonly BlockTypeFate[] = [
  {
    type: 'agent',
    name: 'Agent',
    fate: 'partly',
    to: 'agent',
    remark: 'Tools that have no counterpart become placeholders.',
  },
  { type: 'api', name: 'API', fate: 'mapped', to: 'api' },
  { type: 'webhook_request', name: 'Webhook request', fate: 'mapped', to: 'api' },
  { type: 'api_trigger', name: 'API trigger', fate: 'mapped', to: 'api_trigger' },
  { type: 'chat_trigger', name: 'Chat trigger', fate: 'mapped', to: 'chat_trigger' },
  { type: 'manual_trigger', name: 'Manual trigger', fate: 'mapped', to: 'manual_trigger' },
  { type: 'input_trigger', name: 'Input trigger', fate: 'mapped', to: 'manual_trigger' },
  { type: 'start_trigger', name: 'Start', fate: 'mapped', to: 'api_trigger' },
  { type: 'starter', name: 'Starter', fate: 'mapped', to: 'api_trigger' },
  { type: 'schedule', name: 'Schedule', fate: 'mapped', to: 'schedule' },
  { type: 'rss', name: 'RSS', fate: 'mapped', to: 'rss_trigger' },
  { type: 'generic_webhook', name: 'Webhook', fate: 'mapped', to: 'webhook_trigger' },
  { type: 'webhook', name: 'Webhook (old)', fate: 'mapped', to: 'webhook_trigger' },
  { type: 'condition', name: 'Condition', fate: 'mapped', to: 'condition' },
  { type: 'router', name: 'Router', fate: 'mapped', to: 'router' },
  { type: 'router_v2', name: 'Router', fate: 'mapped', to: 'router' },
  { type: 'evaluator', name: 'Evaluator', fate: 'mapped', to: 'evaluator' },
  {
    type: 'guardrails',
    name: 'Guardrails',
    fate: 'partly',
    to: 'guardrails',
    remark: 'Checks that need a knowledge base, or look only for unknown kinds of data, become placeholders.',
  },
  { type: 'function', name: 'Function', fate: 'partly', to: 'function', remark: 'Python becomes a placeholder.' },
  { type: 'loop', name: 'Loop', fate: 'mapped', to: 'loop' },
  { type: 'parallel', name: 'Parallel', fate: 'mapped', to: 'parallel' },
  { type: 'variables', name: 'Variables', fate: 'mapped', to: 'variables' },
  { type: 'wait', name: 'Wait', fate: 'mapped', to: 'wait' },
  { type: 'human_in_the_loop', name: 'Human in the loop', fate: 'mapped', to: 'approval' },
  { type: 'human_in_the_loop_v2', name: 'Human in the loop', fate: 'mapped', to: 'approval' },
  { type: 'workflow', name: 'Workflow', fate: 'mapped', to: 'workflow', remark: 'Choose the imported workflow.' },
  {
    type: 'workflow_input',
    name: 'Workflow',
    fate: 'mapped',
    to: 'workflow',
    remark: 'Choose the imported workflow.',
  },
  { type: 'smtp', name: 'SMTP', fate: 'mapped', to: 'email', remark: 'Create the credential of the mail server.' },
  { type: 'imap', name: 'IMAP', fate: 'mapped', to: 'email_trigger', remark: 'Create the credential of the mailbox.' },
  { type: 'postgresql', name: 'PostgreSQL', fate: 'partly', to: 'sql', remark: sqlRemark },
  { type: 'mysql', name: 'MySQL', fate: 'partly', to: 'sql', remark: sqlRemark },
  { type: 'redis', name: 'Redis', fate: 'mapped', to: 'redis', remark: 'Create the credential of the server.' },
  {
    type: 's3',
    name: 'Amazon S3',
    fate: 'partly',
    to: 's3',
    remark: 'Reading, writing, listing, deleting and links for reading; others become placeholders.',
  },
  { type: 'file', name: 'File', fate: 'partly', to: 'api', remark: fileRemark },
  { type: 'file_v2', name: 'File', fate: 'partly', to: 'api', remark: fileRemark },
  { type: 'file_v3', name: 'File', fate: 'partly', to: 'api', remark: fileRemark },
  { type: 'file_v4', name: 'File', fate: 'partly', to: 'api', remark: fileRemark },
  {
    type: 'file_v5',
    name: 'File',
    fate: 'partly',
    to: 'api or data',
    remark: 'Downloads, and packing and unpacking files of the run. Files of a workspace become placeholders.',
  },
  { type: 'response', name: 'Response', fate: 'mapped', to: 'response' },
  { type: 'note', name: 'Note', fate: 'mapped', to: 'note' },
]

/** Every block type of Sim, by type. */
export const blockTypes: ReadonlyMap<string, BlockTypeFate> = new Map(
  [
    ...core,
    ...services.flatMap(({ types, service, operations }) =>
      types.map((type): BlockTypeFate => {
        const all = Object.values(operations)
        const kinds = [...new Set(all.map((rule) => ('operation' in rule ? 'operation' : 'api')))]
          .toSorted()
          .toReversed()
        const remark = `${all.length === 1 ? 'One operation' : `${all.length} operations`}; others become placeholders.`
        return { type, name: service, fate: 'partly', to: kinds.join(' or '), remark }
      }),
    ),
    ...otherTypes.flatMap(({ needs, types }) =>
      Object.entries(types).map(
        ([type, name]): BlockTypeFate => ({
          type,
          name,
          fate: 'placeholder',
          remark: needs.replaceAll('{name}', name),
        }),
      ),
    ),
  ]
    .toSorted((one, other) => (one.type < other.type ? -1 : 1))
    .map((fate) => [fate.type, fate] as const),
)

/** Completes "This block needs …" for a placeholder of this type; undefined for mapped and for unknown types. */
export function needsOf(type: string): string | undefined {
  const known = blockTypes.get(type)
  return known?.fate === 'placeholder' ? known.remark : undefined
}
