import {
  Blocks,
  Bot,
  CalendarClock,
  Clock,
  CornerDownLeft,
  FunctionSquare,
  GitBranch,
  Globe,
  type LucideIcon,
  MessageCircle,
  Play,
  Repeat,
  Route,
  Split,
  Variable,
  Webhook,
  Workflow,
  Zap,
} from 'lucide-react'
import { classes } from '../../parts/class-names.ts'

type Look = { icon: LucideIcon; tile: string }

const tiles = {
  trigger: 'bg-trigger/12 text-trigger',
  call: 'bg-call/12 text-call',
  model: 'bg-model/12 text-model',
  logic: 'bg-logic/12 text-logic',
  code: 'bg-code/12 text-code',
  container: 'bg-container/14 text-container',
  response: 'bg-response/12 text-response',
}

const looks: Readonly<Record<string, Look>> = {
  api_trigger: { icon: Zap, tile: tiles.trigger },
  manual_trigger: { icon: Play, tile: tiles.trigger },
  schedule: { icon: CalendarClock, tile: tiles.trigger },
  webhook_trigger: { icon: Webhook, tile: tiles.trigger },
  chat_trigger: { icon: MessageCircle, tile: tiles.trigger },
  api: { icon: Globe, tile: tiles.call },
  workflow: { icon: Workflow, tile: tiles.call },
  agent: { icon: Bot, tile: tiles.model },
  router: { icon: Route, tile: tiles.model },
  condition: { icon: GitBranch, tile: tiles.logic },
  wait: { icon: Clock, tile: tiles.logic },
  function: { icon: FunctionSquare, tile: tiles.code },
  variables: { icon: Variable, tile: tiles.code },
  loop: { icon: Repeat, tile: tiles.container },
  parallel: { icon: Split, tile: tiles.container },
  response: { icon: CornerDownLeft, tile: tiles.response },
}

/** The icon of a block type. Its colour shows the category. */
export function BlockIcon({ type, size = 'normal' }: { type: string; size?: 'small' | 'normal' }) {
  const { icon: Icon, tile } = looks[type] ?? { icon: Blocks, tile: tiles.container }
  return (
    <span
      aria-hidden="true"
      className={classes(
        'flex shrink-0 items-center justify-center rounded-md',
        tile,
        size === 'small' ? 'size-5' : 'size-8',
      )}
    >
      <Icon size={size === 'small' ? 13 : 17} strokeWidth={1.9} />
    </span>
  )
}
