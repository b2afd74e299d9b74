import { Download, File, Link2 } from 'lucide-react'
import { bytesText } from '../../../parts/amount-text.ts'
import { Empty } from '../../../parts/states.tsx'
import type { LogDetail } from '../log-queries.ts'

/** The input and output files of a run. */
export function FilesView({ files }: Pick<LogDetail, 'files'>) {
  if (!files || files.length === 0) {
    return (
      <Empty icon={<File size={22} />} title="No files">
        Files that callers send and files that API requests return appear here. They are kept as long as the log entry.
      </Empty>
    )
  }
  return (
    <ul className="m-4 divide-y divide-line rounded-lg border border-line bg-surface">
      {files.map(({ url, name, size, type, uploadedAt }) => (
        <li key={url} className="flex items-center gap-3 px-3 py-2">
          {uploadedAt ? (
            <File size={16} className="shrink-0 text-muted" aria-hidden="true" />
          ) : (
            <Link2 size={16} className="shrink-0 text-muted" aria-hidden="true" />
          )}
          <div className="min-w-0 flex-1">
            <p className="truncate text-sm">{name}</p>
            <p className="truncate text-xs text-muted">
              {type}
              {uploadedAt ? `, ${bytesText(size)}` : ', external link'}
            </p>
          </div>
          {isWebAddress(url) && (
            <a
              href={url}
              download={name}
              target="_blank"
              rel="noopener noreferrer"
              className="inline-flex h-7 items-center gap-1.5 rounded-md px-2 text-xs font-medium hover:bg-hover"
            >
              <Download size={14} aria-hidden="true" />
              {uploadedAt ? 'Download' : 'Open'}
            </a>
          )}
        </li>
      ))}
    </ul>
  )
}

/** Callers choose the URLs of external files, so only web URLs become links. */
function isWebAddress(url: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(url, location.href).protocol)
  } catch {
    return false
  }
}
