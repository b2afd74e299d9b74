import { readdir, readFile } from 'node:fs/promises'
import type { Metrics } from './metrics.ts'

/** Metrics of the process under the standard Prometheus names. */
export function addProcessMetrics(metrics: Metrics): void {
  metrics.reading(
    {
      name: 'process_cpu_seconds_total',
      help: 'CPU time used by all threads.',
      type: 'counter',
      labels: [],
    },
    () => {
      const { user, system } = process.cpuUsage()
      return [{ labels: [], value: (user + system) / 1_000_000 }]
    },
  )
  metrics.gauge('process_resident_memory_bytes', 'Memory in use.', () => process.memoryUsage.rss())
  const startedAtS = Math.round(Date.now() - process.uptime() * 1000) / 1000
  metrics.gauge('process_start_time_seconds', 'When the process started, in Unix time.', () => startedAtS)
  // One of them is the descriptor used to read the folder.
  metrics.gauge('process_open_fds', 'Open files and sockets.', async () => (await readdir('/proc/self/fd')).length - 1)
  metrics.gauge('process_max_fds', 'Maximum number of open files and sockets.', async () => {
    const limits = await readFile('/proc/self/limits', 'utf8')
    const [, most] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
    return most === undefined ? undefined : Number(most)
  })
}
