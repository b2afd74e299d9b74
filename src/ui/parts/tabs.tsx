import { Tabs as BaseTabs } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'
import { classes } from './class-names.ts'

export type Tab = { value: string; label: string; count?: number | undefined; content: ReactNode }

/** Tabs. Only the panel of the selected tab is rendered. */
export function Tabs({
  tabs,
  value,
  onChange,
  label,
  className,
  aside,
}: {
  tabs: readonly Tab[]
  value: string
  onChange: (value: string) => void
  label: string
  className?: string
  /** Shown at the end of the line of tabs. */
  aside?: ReactNode
}) {
  return (
    <BaseTabs.Root
      value={value}
      onValueChange={(next) => onChange(String(next))}
      className={classes('flex min-h-0 flex-1 flex-col', className)}
    >
      <div className="flex items-center gap-2 border-b border-line px-3">
        {/* The marker overlaps the line below. Without the extra pixel the list would scroll. */}
        <BaseTabs.List aria-label={label} className="-mb-px flex min-w-0 flex-1 gap-1 overflow-x-auto pb-px">
          {tabs.map((tab) => (
            <BaseTabs.Tab
              key={tab.value}
              value={tab.value}
              className={classes(
                'relative h-9 cursor-default px-2 text-sm whitespace-nowrap text-muted outline-offset-[-3px] transition-colors hover:text-text',
                'data-active:text-text data-active:after:absolute data-active:after:inset-x-2 data-active:after:bottom-[-1px] data-active:after:h-0.5',
                'data-active:after:rounded-full data-active:after:bg-accent data-active:after:content-[""]',
              )}
            >
              {tab.label}
              {tab.count !== undefined && <span className="ml-1.5 text-xs text-muted tabular-nums">{tab.count}</span>}
            </BaseTabs.Tab>
          ))}
        </BaseTabs.List>
        {aside}
      </div>
      {tabs.map((tab) => (
        <BaseTabs.Panel
          key={tab.value}
          value={tab.value}
          className="flex min-h-0 flex-1 flex-col overflow-y-auto outline-offset-[-2px]"
        >
          {tab.content}
        </BaseTabs.Panel>
      ))}
    </BaseTabs.Root>
  )
}
