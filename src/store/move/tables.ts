// Long because it lists every column of an installation.

/**
 * The contents of an installation as rows that both stores can read and write. `millrace move` copies exactly these. A
 * test compares this list with the schemas of both stores: a new table or column is either here or in `not-moved.ts`.
 */
export type MovedTable = {
  name: string
  /** In the order of a row's cells. */
  columns: Readonly<Record<string, ColumnType>>
  /** A unique key, by which rows are sorted. */
  key: readonly string[]
  /**
   * Many millions of rows may belong to the entries of the log, so they are copied in portions, in the order of
   * `sequence`. Each other table is copied in one transaction.
   */
  bySequence: boolean
}

/**
 * `execution`: the ID of a run. `texts`: a list of distinct texts, as JSON. `labels`: an object of texts, as JSON.
 * `order`: the place in the order of commits. Only PostgreSQL has one, so it does not count in comparisons.
 */
export type ColumnType = 'integer' | 'real' | 'text' | 'boolean' | 'bytes' | 'execution' | 'texts' | 'labels' | 'order'

/** `null` where there is no value. Booleans are `true` and `false` here, whatever a store keeps. */
export type Cell = string | number | boolean | null | Uint8Array
export type Row = readonly Cell[]

// Tables that others refer to come first.
const tables = {
  users: {
    key: ['number'],
    columns: {
      // The order of creation.
      number: 'integer',
      id: 'text',
      email: 'text',
      password_hash: 'text',
      plan: 'text',
      external_per_minute: 'integer',
      sync_per_minute: 'integer',
      async_per_minute: 'integer',
      usd_per_month: 'real',
      created_at: 'integer',
    },
  },
  sign_in_tokens: { key: ['hash'], columns: { hash: 'bytes', user_id: 'text', created_at: 'integer' } },
  unseen_installation: {
    key: ['user_id'],
    columns: {
      user_id: 'text',
      workspace_id: 'text',
      key_id: 'text',
      sign_in_hash: 'bytes',
      sample_id: 'text',
    },
  },
  sessions: {
    key: ['hash'],
    columns: { hash: 'bytes', user_id: 'text', created_at: 'integer', expires_at: 'integer' },
  },
  workspaces: {
    key: ['number'],
    columns: { number: 'integer', id: 'text', name: 'text', owner_id: 'text', created_at: 'integer' },
  },
  members: { key: ['user_id', 'workspace'], columns: { user_id: 'text', workspace: 'integer', role: 'text' } },
  keys: {
    key: ['id'],
    columns: {
      id: 'text',
      hash: 'bytes',
      last_four: 'text',
      name: 'text',
      user_id: 'text',
      workspace: 'integer',
      created_at: 'integer',
      expires_at: 'integer',
      revoked_at: 'integer',
      last_used_at: 'integer',
    },
  },
  oauth_clients: {
    key: ['id'],
    columns: { id: 'text', name: 'text', redirect_uris: 'text', created_at: 'integer', used_at: 'integer' },
  },
  oauth_grants: {
    key: ['id'],
    columns: {
      id: 'text',
      family: 'bytes',
      client_id: 'text',
      user_id: 'text',
      workspace: 'integer',
      redirect_uri: 'text',
      resource: 'text',
      challenge: 'text',
      current: 'bytes',
      previous: 'bytes',
      rotated_at: 'integer',
      access: 'bytes',
      access_expires_at: 'integer',
      created_at: 'integer',
      expires_at: 'integer',
      last_used_at: 'integer',
    },
  },
  environment: {
    key: ['workspace', 'name'],
    columns: { workspace: 'integer', name: 'text', sealed: 'bytes', plain: 'boolean', updated_at: 'integer' },
  },
  connectors: {
    key: ['number'],
    columns: {
      number: 'integer',
      workspace: 'integer',
      id: 'text',
      document: 'text',
      updated_at: 'integer',
      updated_by: 'text',
    },
  },
  credentials: {
    key: ['number'],
    columns: {
      number: 'integer',
      workspace: 'integer',
      id: 'text',
      name: 'text',
      kind: 'text',
      hosts: 'text',
      fields: 'text',
      sealed: 'bytes',
      created_at: 'integer',
      updated_at: 'integer',
      updated_by: 'text',
      state: 'text',
      problem: 'text',
      last_used_at: 'integer',
      token: 'bytes',
      token_version: 'integer',
      expires_at: 'integer',
    },
  },
  workflows: {
    key: ['number'],
    columns: {
      number: 'integer',
      id: 'text',
      workspace: 'integer',
      name: 'text',
      description: 'text',
      document: 'text',
      folder: 'text',
      created_at: 'integer',
      updated_at: 'integer',
      updated_by: 'text',
      revision: 'integer',
      has_changes: 'boolean',
      deleted_at: 'integer',
      deleted_version: 'integer',
      active_version: 'integer',
      deployed_at: 'integer',
    },
  },
  deployments: {
    key: ['number'],
    columns: {
      number: 'integer',
      workflow: 'integer',
      version: 'integer',
      document: 'text',
      created_at: 'integer',
      created_by: 'text',
      name: 'text',
      description: 'text',
    },
  },
  drafts: {
    key: ['number'],
    columns: { number: 'integer', workflow: 'integer', version: 'integer', document: 'text' },
  },
  pins: {
    key: ['number'],
    columns: {
      number: 'integer',
      workflow: 'integer',
      block: 'text',
      bytes: 'integer',
      updated_at: 'integer',
      content: 'bytes',
    },
  },
  workflow_tests: {
    key: ['workflow'],
    columns: { workflow: 'integer', revision: 'integer', updated_at: 'integer', updated_by: 'text', content: 'text' },
  },
  store_entries: {
    key: ['workspace', 'workflow', 'key'],
    columns: {
      ...{ workspace: 'integer', workflow: 'integer', key: 'text', value: 'text', bytes: 'integer' },
      ...{ updated_at: 'integer', expires_at: 'integer' },
    },
  },
  store_usage: { key: ['workspace'], columns: { workspace: 'integer', bytes: 'integer' } },
  subscriptions: {
    key: ['number'],
    columns: {
      number: 'integer',
      workflow: 'integer',
      id: 'text',
      url: 'text',
      secret: 'bytes',
      previous_secret: 'bytes',
      previous_secret_until: 'integer',
      include: 'integer',
      events: 'integer',
      levels: 'integer',
      triggers: 'integer',
      active: 'boolean',
      retry_on_network_error: 'boolean',
      created_at: 'integer',
      updated_at: 'integer',
      deleted_at: 'integer',
    },
  },
  alerts: {
    key: ['number'],
    columns: {
      number: 'integer',
      workspace: 'integer',
      id: 'text',
      starts: 'integer',
      name: 'text',
      events: 'integer',
      watches_all: 'boolean',
      rule: 'text',
      quiet_ms: 'integer',
      channel: 'text',
      url: 'text',
      secret: 'bytes',
      recipients: 'text',
      active: 'boolean',
      created_at: 'integer',
      updated_at: 'integer',
      updated_by: 'text',
      since: 'integer',
      fired_at: 'integer',
      fired_sequence: 'integer',
      quiet_until: 'integer',
      suppressed: 'integer',
      deleted_at: 'integer',
    },
  },
  alert_workflows: { key: ['alert', 'workflow'], columns: { alert: 'integer', workflow: 'integer' } },
  alert_states: {
    key: ['alert', 'workflow'],
    columns: { alert: 'integer', workflow: 'integer', workspace: 'integer', content: 'text', due_at: 'integer' },
  },
  alert_cursors: {
    key: ['workspace'],
    columns: { workspace: 'integer', revision: 'integer', sequence: 'integer' },
  },
  workspace_events: {
    key: ['number'],
    columns: {
      number: 'integer',
      workspace: 'integer',
      type: 'integer',
      workflow: 'integer',
      execution_id: 'text',
      at: 'integer',
      detail: 'text',
    },
  },
  addresses: { key: ['kind', 'name'], columns: { kind: 'integer', name: 'text', workflow: 'integer' } },
  schedules: {
    key: ['workflow'],
    columns: { workflow: 'integer', version: 'integer', rule: 'text', due_at: 'integer', waiting_at: 'integer' },
  },
  polls: {
    key: ['number'],
    columns: {
      number: 'integer',
      workflow: 'integer',
      block: 'text',
      kind: 'integer',
      identity: 'text',
      version: 'integer',
      rule: 'text',
      due_at: 'integer',
      revision: 'integer',
      state: 'text',
      polled_at: 'integer',
      succeeded_at: 'integer',
      failures: 'integer',
      error: 'text',
      started_at: 'integer',
      started: 'integer',
    },
  },
  poll_items: { key: ['poll', 'hash'], columns: { poll: 'integer', hash: 'text', place: 'integer' } },
  // A job that was running when its process ended is interrupted: that counts as a crash.
  jobs: {
    key: ['number'],
    columns: {
      number: 'integer',
      execution_id: 'execution',
      workspace: 'integer',
      workflow: 'integer',
      version: 'integer',
      trigger: 'integer',
      state: 'integer',
      cuts: 'integer',
      created_at: 'integer',
      started_at: 'integer',
      waited_ms: 'integer',
      waiting_since: 'integer',
      pauses: 'integer',
      input: 'bytes',
    },
  },
  pauses: {
    key: ['number'],
    columns: {
      number: 'integer',
      context_id: 'text',
      execution_id: 'execution',
      workspace: 'integer',
      workflow: 'integer',
      place: 'text',
      block_id: 'text',
      block_name: 'text',
      kind: 'integer',
      state: 'integer',
      since: 'integer',
      until: 'integer',
      ended_at: 'integer',
      content: 'bytes',
      answer: 'bytes',
      announced: 'integer',
      remind_at: 'integer',
      remind_every: 'integer',
      reminders: 'integer',
    },
  },
  job_steps: { key: ['job', 'number'], columns: { job: 'integer', number: 'integer', content: 'bytes' } },
  store_changes: {
    key: ['execution_id', 'operation'],
    columns: {
      ...{ execution_id: 'execution', operation: 'text', found: 'boolean', sum: 'real', at: 'integer' },
    },
  },
  request_claims: {
    key: ['workflow', 'key'],
    columns: {
      ...{ workflow: 'integer', key: 'text', execution_id: 'execution', claimed_at: 'integer' },
      ...{ request: 'text', response: 'bytes' },
    },
  },
  // `number` counts from 1 in each conversation.
  chat_turns: {
    key: ['workflow', 'conversation', 'number'],
    columns: { workflow: 'integer', conversation: 'text', number: 'integer', at: 'integer', content: 'bytes' },
  },
  usage: { key: ['user_id', 'period_start'], columns: { user_id: 'text', period_start: 'integer', cost: 'real' } },
  model_usage: {
    key: ['user_id', 'day', 'model'],
    columns: {
      user_id: 'text',
      day: 'integer',
      model: 'text',
      runs: 'integer',
      cost: 'real',
      prompt_tokens: 'integer',
      completion_tokens: 'integer',
    },
  },
  rate_windows: {
    key: ['kind', 'user_id'],
    columns: { kind: 'text', user_id: 'text', used: 'integer', reset_at: 'integer' },
  },
  marks: { key: ['name'], columns: { name: 'text', value: 'integer' } },
  logs: {
    key: ['sequence'],
    columns: {
      sequence: 'integer',
      commit_order: 'order',
      workspace: 'integer',
      workflow: 'integer',
      execution_id: 'execution',
      version: 'integer',
      level: 'integer',
      status: 'integer',
      trigger: 'integer',
      source: 'integer',
      partial: 'boolean',
      created_at: 'integer',
      started_at: 'integer',
      ended_at: 'integer',
      duration_ms: 'real',
      cost_total: 'real',
      models: 'texts',
      failure: 'text',
      labels: 'labels',
      search: 'text',
      cost: 'text',
      final_output: 'text',
      trace_spans: 'text',
      paused_ms: 'integer',
    },
  },
  run_files: {
    key: ['workspace', 'sequence'],
    columns: { sequence: 'integer', workspace: 'integer', folder: 'text', files: 'text', gone: 'boolean' },
  },
  deliveries: {
    key: ['sequence', 'subscription'],
    columns: {
      sequence: 'integer',
      subscription: 'integer',
      workflow: 'integer',
      include: 'integer',
      state: 'integer',
      attempts: 'integer',
      attempts_before: 'integer',
      due_at: 'integer',
    },
  },
  pause_events: {
    key: ['sequence'],
    columns: {
      sequence: 'integer',
      workflow: 'integer',
      execution_id: 'execution',
      version: 'integer',
      trigger: 'integer',
      started_at: 'integer',
      kind: 'integer',
      at: 'integer',
      paused: 'text',
    },
  },
  alert_firings: {
    key: ['sequence'],
    columns: { sequence: 'integer', alert: 'integer', at: 'integer', content: 'text' },
  },
  event_runs: {
    key: ['sequence'],
    columns: {
      sequence: 'integer',
      workflow: 'integer',
      execution_id: 'text',
      chain: 'text',
      content: 'text',
      waiting: 'boolean',
      at: 'integer',
    },
  },
  delivery_attempts: {
    key: ['sequence', 'subscription', 'number'],
    columns: {
      sequence: 'integer',
      subscription: 'integer',
      number: 'integer',
      started_at: 'integer',
      duration_ms: 'real',
      status: 'integer',
      failure_code: 'text',
      failure_message: 'text',
      answer: 'text',
    },
  },
  run_webhooks: { key: ['sequence'], columns: { sequence: 'integer', skipped: 'text', facts: 'text' } },
  job_outputs: { key: ['execution_id'], columns: { sequence: 'integer', execution_id: 'execution', content: 'bytes' } },
} as const satisfies Readonly<Record<string, Pick<MovedTable, 'key' | 'columns'>>>

export type MovedName = keyof typeof tables

/** Tables whose numbers are never used twice: others refer to a number longer than its row exists. */
export const numberedTables = [
  'workspaces',
  'workflows',
  'subscriptions',
  'alerts',
  'workspace_events',
  'jobs',
  'pauses',
] as const

export const movedTables: readonly MovedTable[] = Object.entries(tables).map(([name, table]) => ({
  name,
  ...table,
  bySequence: table.key[0] === 'sequence',
}))

/** Expressions for columns of the jobs `t`: none of them runs any more. */
export const interruptedJobs = {
  state: 'CASE t.state WHEN 1 THEN 2 ELSE t.state END',
  cuts: 't.cuts + CASE t.state WHEN 1 THEN 1 ELSE 0 END',
} as const

/** The names of marks that only one kind of store has. */
export const ownMarks = ['packed', 'journal', 'journal-generation', 'transactions', 'commits'] as const
