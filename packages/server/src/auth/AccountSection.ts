/** What "Your account" on the page `/sign-in` consists of. AccountScript.ts fills it. */
export const accountSection = `<div id="account" hidden>
<ul id="workspaces" aria-label="Your workspaces"></ul>
<section id="invited" aria-labelledby="invited-title" hidden>
<h2 id="invited-title">Invites to you</h2>
<ul id="invites" aria-labelledby="invited-title"></ul>
</section>
<section id="ways-in" aria-labelledby="ways-title">
<h2 id="ways-title" tabindex="-1">How you sign in</h2>
<ul id="way-list" aria-labelledby="ways-title"></ul>
<button id="add-passkey" type="button" hidden>Add a passkey</button>
<div id="add-accounts"></div>
</section>
<section id="sessions" aria-labelledby="sessions-title">
<h2 id="sessions-title" tabindex="-1">Where you are signed in</h2>
<ul id="session-list" aria-labelledby="sessions-title"></ul>
<button id="end-others" type="button" hidden>Sign out everywhere else</button>
</section>
<section id="agents" aria-labelledby="agents-title">
<h2 id="agents-title" tabindex="-1">Your coding agents</h2>
<p id="no-agents" class="muted">None is connected.</p>
<p id="some-agents" class="muted">Each goes on until you revoke it, also when you sign out.</p>
<ul id="agent-list" aria-labelledby="agents-title"></ul>
</section>
<section id="keys" aria-labelledby="keys-title">
<h2 id="keys-title" tabindex="-1">Your API keys</h2>
<p class="muted">Command lines and other programs act as you with a key of yours: give it to nobody.</p>
<ul id="key-list" aria-labelledby="keys-title"></ul>
<div id="made" hidden>
<label for="secret">Your new API key</label>
<input id="secret" type="text" readonly autocomplete="off" spellcheck="false">
<p class="muted">It is shown this once, and nobody can read it again. If you lose it, make another one.</p>
<button id="copy" class="primary" type="button">Copy</button>
</div>
<label for="key-name">Name of the new key, such as laptop</label>
<input id="key-name" type="text" autocomplete="off" maxlength="80">
<button id="make-key" type="button">Make an API key</button>
</section>
<hr>
<button id="sign-out" type="button">Sign out</button>
</div>`
