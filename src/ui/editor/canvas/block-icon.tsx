import {
  Archive,
  BellRing,
  Blocks,
  Bot,
  CalendarClock,
  ClipboardList,
  Clock,
  Cloud,
  CornerDownLeft,
  Database,
  DatabaseZap,
  FileSpreadsheet,
  FunctionSquare,
  Gauge,
  GitBranch,
  Globe,
  ListPlus,
  type LucideIcon,
  Mail,
  MailOpen,
  MessageCircle,
  PhoneIncoming,
  Play,
  Plug,
  Puzzle,
  Repeat,
  Route,
  Rss,
  ShieldCheck,
  Split,
  UserCheck,
  Variable,
  Webhook,
  Workflow,
  Wrench,
  Zap,
} from 'lucide-react'
import { classes } from '../../parts/class-names.ts'

type Kind = keyof typeof tiles
type Look = { icon: LucideIcon; kind: Kind }

const tiles = {
  trigger: 'bg-trigger/12 text-trigger',
  call: 'bg-call/12 text-call',
  model: 'bg-model/12 text-model',
  logic: 'bg-logic/12 text-logic',
  code: 'bg-code/12 text-code',
  loop: 'bg-loop/14 text-loop',
  parallel: 'bg-parallel/14 text-parallel',
  other: 'bg-other/14 text-other',
  response: 'bg-response/12 text-response',
  placeholder: 'bg-warn-soft text-warn-text',
}

const looks: Readonly<Record<string, Look>> = {
  api_trigger: { icon: Zap, kind: 'trigger' },
  manual_trigger: { icon: Play, kind: 'trigger' },
  schedule: { icon: CalendarClock, kind: 'trigger' },
  poll_trigger: { icon: ListPlus, kind: 'trigger' },
  rss_trigger: { icon: Rss, kind: 'trigger' },
  webhook_trigger: { icon: Webhook, kind: 'trigger' },
  chat_trigger: { icon: MessageCircle, kind: 'trigger' },
  email_trigger: { icon: MailOpen, kind: 'trigger' },
  form_trigger: { icon: ClipboardList, kind: 'trigger' },
  event_trigger: { icon: BellRing, kind: 'trigger' },
  api: { icon: Globe, kind: 'call' },
  operation: { icon: Plug, kind: 'call' },
  mcp: { icon: Wrench, kind: 'call' },
  email: { icon: Mail, kind: 'call' },
  sql: { icon: Database, kind: 'call' },
  redis: { icon: DatabaseZap, kind: 'call' },
  s3: { icon: Cloud, kind: 'call' },
  workflow: { icon: Workflow, kind: 'call' },
  store: { icon: Archive, kind: 'call' },
  agent: { icon: Bot, kind: 'model' },
  router: { icon: Route, kind: 'model' },
  evaluator: { icon: Gauge, kind: 'model' },
  guardrails: { icon: ShieldCheck, kind: 'logic' },
  condition: { icon: GitBranch, kind: 'logic' },
  wait: { icon: Clock, kind: 'logic' },
  approval: { icon: UserCheck, kind: 'logic' },
  wait_for_call: { icon: PhoneIncoming, kind: 'logic' },
  data: { icon: FileSpreadsheet, kind: 'code' },
  function: { icon: FunctionSquare, kind: 'code' },
  variables: { icon: Variable, kind: 'code' },
  loop: { icon: Repeat, kind: 'loop' },
  parallel: { icon: Split, kind: 'parallel' },
  response: { icon: CornerDownLeft, kind: 'response' },
  placeholder: { icon: Puzzle, kind: 'placeholder' },
}

export function kindOf(type: string): Kind {
  return looks[type]?.kind ?? 'other'
}

export function typeIcon(type: string): LucideIcon {
  return looks[type]?.icon ?? Blocks
}

/** The icon of a block type. Its colour shows the category. */
export function BlockIcon({ type, size = 'normal' }: { type: string; size?: 'small' | 'normal' }) {
  const Icon = typeIcon(type)
  return (
    <span
      aria-hidden="true"
      className={classes(
        'flex shrink-0 items-center justify-center rounded-md',
        tiles[kindOf(type)],
        size === 'small' ? 'size-5' : 'size-8',
      )}
    >
      <Icon size={size === 'small' ? 13 : 17} strokeWidth={1.9} />
    </span>
  )
}
