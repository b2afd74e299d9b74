import { ChatBudget } from '../accounts/chat-budget.ts'
import { Environments } from '../accounts/environment.ts'
import { createJobSeal } from '../accounts/job-seal.ts'
import { KeyUses } from '../accounts/key-uses.ts'
import { KeyCache } from '../accounts/keys.ts'
import { AccountLimits } from '../accounts/limits.ts'
import { OAuthGrants } from '../accounts/oauth/grants.ts'
import { StaleGrants } from '../accounts/oauth/stale-grants.ts'
import { OAuthTokens } from '../accounts/oauth/tokens.ts'
import { createOwnerLimits } from '../accounts/owner-limits.ts'
import { RateWindowPersistence } from '../accounts/rate-window-persistence.ts'
import { openSecretBox } from '../accounts/secret-box.ts'
import { Sessions } from '../accounts/sessions.ts'
import { Usage } from '../accounts/usage.ts'
import { tiersOf } from '../domain/account/tiers.ts'
import { messageOf } from '../domain/errors.ts'
import type { Base } from './base.ts'
import { sealHeadsOf } from './seal-heads.ts'
import { stopAll } from './stop-all.ts'

/** Who calls and what they may use: keys, sessions, limits, environment variables, encryption. */
export type Accounts = Awaited<ReturnType<typeof assembleAccounts>>

export async function assembleAccounts({ config, store, metrics, logger, clock }: Base) {
  const [windows, box] = await Promise.all([
    store.listRateWindows(clock.now()),
    openSecretBox({
      directory: config.data,
      secretKey: config.secretKey,
      sealHeads: () => sealHeadsOf(store),
    }),
  ])
  await store.announceKeys(box.heads)
  const keyUses = new KeyUses({ record: (uses) => store.recordKeyUses(uses), clock })
  const keys = new KeyCache({ findKey: (hash) => store.findKey(hash), used: keyUses.note, clock })
  const oauthUses = new KeyUses({ record: (uses) => store.recordOAuthUses(uses), clock })
  const oauth = new OAuthGrants({
    ...{ store, clock, used: oauthUses.note },
    tokens: new OAuthTokens(() => box.derive('millrace oauth', true)),
  })
  const staleGrants = new StaleGrants({
    ...{ store, clock },
    onFailure: (error) => logger.warn('expired grants of applications stay for now', { reason: messageOf(error) }),
  })
  const lookUpKey = (text: string) => oauth.lookUpOwn(text) ?? keys.lookUp(text)
  const sessions = new Sessions({ store, clock, idleDays: config.sessionDays, open: config.noAuth })
  const usage = new Usage({ getUsage: (userId, periodStart) => store.getUsage(userId, periodStart), clock })
  const chatBudget = new ChatBudget({
    getChatCost: (chat, since) => store.getChatCost(chat, since),
    usdPerDay: config.publicChatUsdPerDay,
    onReached: (workflowId) => logger.warn('a public chat has reached its limit for today', { workflowId }),
    clock,
  })
  const environments = new Environments({ store, box, clock })
  logger.redactWith(environments.redact)
  const windowPersistence = new RateWindowPersistence({ save: (rows, at) => store.saveRateWindows(rows, at), clock })
  const limits = new AccountLimits({
    findUser: (userId) => store.findUser(userId),
    tiers: tiersOf(config),
    tier: config.plan,
    usage,
    windowPersistence,
    windows,
    visitors: {
      chatPerMinute: config.chatVisitorPerMinute,
      webhookPerMinute: config.webhookVisitorPerMinute,
      formPerMinute: config.formVisitorPerMinute,
    },
    onRefused: (kind) => metrics.refused(kind),
    clock,
  })
  const ownerLimits = createOwnerLimits({ store, usage, limits })
  const stop = () =>
    stopAll(logger, [
      ['keys', () => keyUses.stop()],
      ['applications', () => oauthUses.stop()],
      ['expired grants', () => staleGrants.stop()],
      ['sessions', () => sessions.stop()],
      ['rate windows', () => windowPersistence.stop()],
    ])
  const counters = { usage, chatBudget, limits, ownerLimits }
  return { box, jobSeal: createJobSeal(box), keys, lookUpKey, oauth, sessions, environments, ...counters, stop }
}
