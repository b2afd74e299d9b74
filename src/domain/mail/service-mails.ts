import type { ServiceMail } from './mailer.ts'

type SignInLink = { email: string; url: string; isNew: boolean; lifetime?: string }

/** A link that signs a person in to the dashboard. `isNew`: the account was made just now. */
export function signInMail({ email, url, isNew, lifetime = 'seven days' }: SignInLink): ServiceMail {
  const reason = isNew
    ? 'You now have a Millrace account.'
    : 'Somebody asked for a link that signs you in to Millrace. If it was not you, ignore this message.'
  return {
    to: [email],
    subject: isNew ? 'Your Millrace account' : 'Your sign-in link for Millrace',
    text: `${reason}\n\nSign in here:\n${url}\n\nThe link works once, within ${lifetime}. Give it to nobody else.\n`,
  }
}

/** An approval that waits for named accounts. */
export function approvalMail(approval: { to: string; title: string; message: string; url: string }): ServiceMail {
  const { to, title, message, url } = approval
  const about = message === '' ? '' : `${message.slice(0, messageCharsMax)}\n\n`
  return {
    to: [to],
    subject: `Approval needed: ${title.slice(0, titleCharsMax) || 'a workflow waits'}`,
    text: `A workflow waits for your answer: ${title}\n\n${about}Answer here:\n${url}\n`,
  }
}

/** An account that has become a member of a workspace. */
export function memberMail(member: {
  to: string
  workspace: string
  by: string
  role: string
  url: string
}): ServiceMail {
  const { to, workspace, by, role, url } = member
  return {
    to: [to],
    subject: `You can use the workspace ${workspace}`,
    text: `${by} has added you to the workspace ${workspace} (${role}).\n\nOpen it here:\n${url}\n`,
  }
}

/** The operator's test of the mail server. */
export function testMail(to: string): ServiceMail {
  return {
    to: [to],
    subject: 'Test of the mail server of Millrace',
    text: 'The service can send e-mails: sign-in links, approvals and alerts.\n',
  }
}

const messageCharsMax = 4_000
const titleCharsMax = 200
