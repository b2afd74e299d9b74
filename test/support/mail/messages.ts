export type MessageParts = { from?: string; subject?: string; text?: string; file?: { name: string; text: string } }

/** A message as a mail server receives it. */
export function messageOf({
  from = 'Ada <ada@example.com>',
  subject = 'Hello',
  text = 'Hi',
  file,
}: MessageParts): string {
  const id = `${crypto.randomUUID()}@example.com`
  const head = [
    `From: ${from}`,
    'To: Shop <shop@example.com>',
    `Subject: ${subject}`,
    `Message-ID: <${id}>`,
    'Date: Sat, 28 Nov 2026 10:00:00 +0000',
    'MIME-Version: 1.0',
  ]
  if (!file) return [...head, 'Content-Type: text/plain; charset=utf-8', '', text, ''].join('\n')
  const { name, text: content } = file
  const body = [
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    '',
    text,
    '--b',
    `Content-Type: text/csv; name="${name}"`,
    `Content-Disposition: attachment; filename="${name}"`,
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(content).toString('base64'),
    '--b--',
    '',
  ]
  return [...head, 'Content-Type: multipart/mixed; boundary=b', '', ...body].join('\n')
}
