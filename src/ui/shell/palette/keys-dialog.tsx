import { Dialog, DialogBody } from '../../parts/dialog.tsx'
import { DocsLink } from '../../parts/docs-link.tsx'
import { Keys } from '../../parts/keys.tsx'
import { keyOf, keyTable } from './key-table.ts'

/** All keys of the editor and the dashboard. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" width="wide" description={<DocsLink to="/docs/editor" />} onClose={onClose}>
      <DialogBody isRead>
        <div className="columns-1 gap-8 md:columns-2">
          {keyTable.map(({ group, rows }) => (
            <section key={group} className="mb-4 break-inside-avoid-column">
              <h3 className="pb-1 text-xs font-semibold">{group}</h3>
              <dl className="text-sm">
                {rows.map(({ ids, action }) => (
                  <div key={action} className="flex min-h-7 items-center gap-3 border-b border-line py-1 last:border-0">
                    <dt className="min-w-0 flex-1">{action.charAt(0).toUpperCase() + action.slice(1)}</dt>
                    <dd className="flex shrink-0 gap-2">
                      {ids.map(keyOf).map((text) => (
                        <span key={text}>
                          <Keys text={text} />
                          <span className="sr-only">{text.replace('Mod', 'Control or Command')}</span>
                        </span>
                      ))}
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
      </DialogBody>
    </Dialog>
  )
}
