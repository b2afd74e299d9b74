import type { PathStep } from '../../domain/workflow/reference.ts'
import type { BlockToMap, MappedBlock } from '../import/mapping.ts'
import { textOf } from '../sim-document.ts'
import { keptOf } from './kept.ts'

/** How a webhook trigger checks that a service has sent a request. `none`: it cannot check this service. */
type Proof =
  | { type: 'signature'; scheme: 'github' | 'stripe' | 'slack'; variable: string }
  | { type: 'header'; name: string; variable: string }
  | { type: 'none' }

type TriggerRules = {
  service: string
  proof: Proof
  /** Sub-blocks that hold the secret. */
  secrets: readonly string[]
  /** Our paths of Sim's outputs. All other outputs are in the body of the request. */
  outputs?: Readonly<Record<string, readonly PathStep[]>>
  notes?: readonly string[]
}

const triggers: Readonly<Record<string, TriggerRules>> = {
  github: {
    service: 'GitHub',
    proof: { type: 'signature', scheme: 'github', variable: 'GITHUB_WEBHOOK_SECRET' },
    secrets: ['webhookSecret', 'secret'],
    outputs: { event_type: ['headers', 'x-github-event'], delivery_id: ['headers', 'x-github-delivery'] },
  },
  stripe: {
    service: 'Stripe',
    proof: { type: 'signature', scheme: 'stripe', variable: 'STRIPE_WEBHOOK_SECRET' },
    secrets: ['webhookSecret'],
  },
  slack: {
    service: 'Slack',
    proof: { type: 'signature', scheme: 'slack', variable: 'SLACK_SIGNING_SECRET' },
    secrets: ['signingSecret'],
    outputs: {
      'event.event_type': ['body', 'event', 'type'],
      'event.timestamp': ['body', 'event', 'ts'],
      'event.team_id': ['body', 'team_id'],
      'event.event_id': ['body', 'event_id'],
    },
  },
  gitlab: {
    service: 'GitLab',
    proof: { type: 'header', name: 'X-Gitlab-Token', variable: 'GITLAB_WEBHOOK_TOKEN' },
    secrets: ['webhookSecret', 'secretToken'],
    outputs: { event_type: ['headers', 'x-gitlab-event'] },
  },
  telegram: {
    service: 'Telegram',
    proof: { type: 'header', name: 'X-Telegram-Bot-Api-Secret-Token', variable: 'TELEGRAM_WEBHOOK_SECRET' },
    secrets: [],
    outputs: {
      text: ['body', 'message', 'text'],
      chat_id: ['body', 'message', 'chat', 'id'],
      chat_type: ['body', 'message', 'chat', 'type'],
      message_id: ['body', 'message', 'message_id'],
      from_id: ['body', 'message', 'from', 'id'],
      from_username: ['body', 'message', 'from', 'username'],
      from_first_name: ['body', 'message', 'from', 'first_name'],
      date: ['body', 'message', 'date'],
      'message.raw': ['body'],
      'message.id': ['body', 'message', 'message_id'],
      sender: ['body', 'message', 'from'],
    },
    notes: [
      'Sim registered the address with Telegram. Register the new one: call "setWebhook" with the address and the secret.',
    ],
  },
  linear: { service: 'Linear', proof: { type: 'none' }, secrets: ['webhookSecret'] },
  jira: { service: 'Jira', proof: { type: 'none' }, secrets: ['webhookSecret'] },
  typeform: { service: 'Typeform', proof: { type: 'none' }, secrets: ['secret'] },
}

/** Sub-blocks that only Sim's editor uses. */
const editorOnly = [
  ...['triggerId', 'webhookUrlDisplay', 'triggerInstructions', 'triggerSave', 'samplePayload', 'triggerConfig'],
  ...[
    'triggerCredentials',
    'webhookId',
    'triggerPath',
    'eventPayloadExample',
    'setupScript',
    'contentType',
    'sslVerification',
  ],
]

/** Maps a block that starts runs when a service calls. Undefined if we have no rules for the service. */
export function mapTrigger({ block, values }: BlockToMap): MappedBlock | undefined {
  const base = block.type.replace(/_v\d+$/, '')
  const rules = Object.hasOwn(triggers, base) ? triggers[base] : undefined
  if (!rules) return undefined
  const { service, proof, notes = [] } = rules
  const secret = rules.secrets.map((id) => textOf(values.peek(id))).find((text) => text !== '')
  values.drop(...rules.secrets)
  const chosen = textOf(values.peek('selectedTriggerId')) || textOf(values.peek('triggerId'))
  values.drop(...editorOnly, 'selectedTriggerId', 'operation')
  const { authentication, said } = authenticationBy(proof, service, secret)
  const only = base === 'github' ? githubEvent(chosen) : undefined
  return {
    type: 'webhook_trigger',
    params: { methods: ['POST'], authentication },
    output: (path) => outputOf(rules, path),
    notes: [
      `The trigger has a new address. Enter it in ${service}.`,
      ...said,
      ...notes,
      ...(chosen !== '' && only === undefined
        ? [
            `In Sim, it started runs only for "${chosen}". Select these events in ${service}, or check for them in a condition.`,
          ]
        : []),
    ],
    ...(only === undefined ? {} : onlyFor(only, block.name)),
    kept: keptOf(block.values, values, authentication, rules.secrets),
  }
}

function authenticationBy(proof: Proof, service: string, secret: string | undefined) {
  if (proof.type === 'none') {
    const warning = `The trigger cannot check the signatures of ${service}: anyone who knows the address can start runs.`
    return { authentication: { type: 'none' }, said: [warning] }
  }
  const variable = secret?.match(/^\s*\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}\s*$/)?.[1]
  const used = variable ?? proof.variable
  const value = `{{${used}}}`
  const said = variable ? [] : [`Set the variable ${used} in the workspace to the secret that you enter in ${service}.`]
  const authentication =
    proof.type === 'signature'
      ? { type: 'signature', scheme: proof.scheme, secret: value }
      : { type: 'header', name: proof.name, value }
  return { authentication, said }
}

function outputOf({ outputs = {} }: TriggerRules, path: readonly PathStep[]): readonly PathStep[] {
  for (let length = path.length; length > 0; length -= 1) {
    const key = path.slice(0, length).join('.')
    if (Object.hasOwn(outputs, key)) return [...(outputs[key] as readonly PathStep[]), ...path.slice(length)]
  }
  const [first] = path
  return first === 'body' || first === 'headers' || first === 'query' || first === 'method' ? path : ['body', ...path]
}

/** `isTrue`: a path in the body that must be true. */
type GithubEvent = readonly [event: string, action?: string, isTrue?: string]

/** The event and the action of GitHub's webhooks, by Sim's trigger for them. */
const githubEvents: Readonly<Record<string, GithubEvent>> = {
  github_issue_opened: ['issues', 'opened'],
  github_issue_closed: ['issues', 'closed'],
  github_issue_comment: ['issue_comment'],
  github_pr_opened: ['pull_request', 'opened'],
  github_pr_closed: ['pull_request', 'closed'],
  github_pr_merged: ['pull_request', 'closed', 'pull_request.merged'],
  github_pr_comment: ['issue_comment'],
  github_pr_reviewed: ['pull_request_review', 'submitted'],
  github_push: ['push'],
  github_release_published: ['release', 'published'],
  github_workflow_run: ['workflow_run'],
}

function githubEvent(trigger: string): GithubEvent | undefined {
  return Object.hasOwn(githubEvents, trigger) ? githubEvents[trigger] : undefined
}

/** Adds a condition after the trigger, because GitHub sends every event to the same address. */
function onlyFor([event, action, isTrue]: GithubEvent, name: string): Partial<MappedBlock> {
  const expression = [
    `<${name}.headers["x-github-event"]> === "${event}"`,
    ...(action === undefined ? [] : [`<${name}.body.action> === "${action}"`]),
    ...(isTrue === undefined ? [] : [`<${name}.body.${isTrue}> === true`]),
  ].join(' && ')
  return {
    // biome-ignore lint/suspicious/noThenProperty: a list of blocks, which no code awaits.
    then: [
      {
        suffix: 'events',
        name: `${name} events`.slice(0, 200),
        type: 'condition',
        params: { conditions: [{ id: 'event', expression }] },
      },
    ],
    handle: () => 'condition-event',
  }
}
