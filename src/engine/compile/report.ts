import type { Finding } from '../../domain/workflow/workflow.ts'

/** Collects findings. */
export class Report {
  readonly findings: Finding[] = []

  add(
    level: Finding['level'],
    code: string,
    path: string,
    block: { id: string; name: string } | null,
    message: string,
  ) {
    this.findings.push({ level, code, path, blockId: block?.id ?? null, blockName: block?.name ?? null, message })
  }
}
