import { BookOpen } from 'lucide-react'
import type { ReactNode } from 'react'

/** Every address in the documentation that the interface links to. A test checks that each page and heading exists. */
export const docs = {
  home: '/docs',
  assistant: '/docs/assistant',
  firstWorkflow: '/docs/first-workflow',
  logs: '/docs/concepts#log-entries-and-traces',
  waiting: '/docs/waiting',
  memory: '/docs/memory',
  alerts: '/docs/alerts',
  webhooks: '/docs/webhooks',
  keys: '/docs/api#authentication',
  environment: '/docs/secrets#environment-variables',
  credentials: '/docs/credentials',
  connectors: '/docs/connectors',
  import: '/docs/coming-from-sim#import-workflows',
  roles: '/docs/security#roles',
  tests: '/docs/editor#test-a-workflow',
  signIn: '/docs/operations#sign-in',
  limits: '/docs/limits',
  tools: '/docs/mcp#workflows-as-tools',
  configuration: '/docs/configuration',
  processes: '/docs/postgresql#several-processes',
} as const

/** Triggers have a page of their own; its headings are not their types. */
const triggers: Readonly<Record<string, string | undefined>> = {
  api_trigger: '/docs/triggers#api',
  schedule: '/docs/triggers#schedules',
  poll_trigger: '/docs/triggers#polls',
  rss_trigger: '/docs/triggers#feeds',
  webhook_trigger: '/docs/triggers#inbound-webhooks',
  chat_trigger: '/docs/triggers#chat',
  form_trigger: '/docs/forms',
  email_trigger: '/docs/triggers#e-mail',
  event_trigger: '/docs/alerts#start-a-workflow',
  manual_trigger: '/docs/triggers#manual-runs',
}

/** The section about a block type. */
export function docsOfBlock(type: string): string {
  return triggers[type] ?? `/docs/blocks#${type}`
}

/** A link to the documentation, in a tab of its own: what the reader was doing stays open. */
export function DocsLink({ to, children = 'Documentation' }: { to: string; children?: ReactNode }) {
  return (
    <a
      href={to}
      target="_blank"
      rel="noopener"
      className="inline-flex items-center gap-1.5 text-xs text-accent-text underline underline-offset-2 hover:no-underline"
    >
      <BookOpen size={13} className="shrink-0" aria-hidden="true" />
      {children}
    </a>
  )
}

export function openDocs(): void {
  open(docs.home, '_blank', 'noopener')
}
