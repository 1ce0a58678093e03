/* A board's page: a chat over /v1/chat/completions, in a single file. `ingot
 * serve` has a larger page. */
#include "runtime/api/api_page.h"

static const char page[] =
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>\n"
    "<title>Ingot</title><link rel=icon href='data:,'>\n"
    "<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:46em;margin:0 auto;padding:1em}\n"
    "header{display:flex;gap:1em;align-items:baseline;flex-wrap:wrap}h1{font-size:1.2em;margin:0}\n"
    "#state{flex:1;opacity:.7}\n"
    ".turn{white-space:pre-wrap;overflow-wrap:anywhere;margin:.7em 0;padding:.5em .8em;border-radius:.5em}\n"
    ".user{background:#8882;margin-left:3em}.error{color:#c33}\n"
    "form{display:flex;gap:.5em;position:sticky;bottom:0;padding:.5em 0;background:Canvas}\n"
    "textarea{flex:1;font:inherit;resize:vertical}button,input{font:inherit}\n"
    "</style>\n"
    "<header><h1>Ingot</h1><span id=state role=status></span>\n"
    "<label>Token <input id=token type=password size=12 autocomplete=off></label>\n"
    "<button id=fresh type=button>New chat</button></header>\n"
    "<main id=log aria-live=polite></main>\n"
    "<form id=form><textarea id=text rows=2 aria-label='Your message' required autofocus></textarea>\n"
    "<button id=send>Send</button></form>\n"
    "<script>\n"
    "const $=id=>document.getElementById(id);let turns=[],stop=null;\n"
    "$('token').value=sessionStorage.getItem('token')||'';\n"
    "$('token').onchange=()=>{sessionStorage.setItem('token',$('token').value);look()};\n"
    "const head=()=>({'content-type':'application/json',...($('token').value?{authorization:'Bearer '+$('token').value}:{})});\n"
    "function show(kind,text){const d=document.createElement('div');d.className='turn '+kind;d.textContent=text;$('log').append(d);\n"
    " d.scrollIntoView({block:'end'});return d}\n"
    "const problem=async r=>{try{return(await r.json()).error.message}catch{return'status '+r.status}};\n"
    "async function look(){try{const r=await fetch('/v1/models',{headers:head()});\n"
    " $('state').textContent=r.ok?((await r.json()).data[0]||{id:'no model is loaded'}).id:await problem(r)}\n"
    " catch{$('state').textContent='the board does not answer'}}\n"
    "async function reply(box){stop=new AbortController();\n"
    " const r=await fetch('/v1/chat/completions',{method:'POST',headers:head(),signal:stop.signal,\n"
    "  body:JSON.stringify({messages:turns,stream:true})});\n"
    " if(!r.ok)throw new Error(await problem(r));\n"
    " const reader=r.body.pipeThrough(new TextDecoderStream()).getReader();let rest='';\n"
    " for(;;){const{value,done}=await reader.read();if(done)return;\n"
    "  const lines=(rest+value).split('\\n');rest=lines.pop();\n"
    "  for(const l of lines){if(!l.startsWith('data: ')||l==='data: [DONE]')continue;\n"
    "   const c=JSON.parse(l.slice(6)).choices[0];box.textContent+=c&&c.delta&&c.delta.content||''}\n"
    "  box.scrollIntoView({block:'end'})}}\n"
    "$('form').onsubmit=async e=>{e.preventDefault();if(stop){stop.abort();return}\n"
    " const text=$('text').value.trim();if(!text)return;$('text').value='';\n"
    " turns.push({role:'user',content:text});show('user',text);const box=show('assistant','');$('send').textContent='Stop';\n"
    " try{await reply(box)}catch(x){if(x.name!=='AbortError')show('error',x.message)}\n"
    " stop=null;$('send').textContent='Send';\n"
    " if(box.textContent)turns.push({role:'assistant',content:box.textContent});else{turns.pop();box.remove()}};\n"
    "$('text').onkeydown=e=>{if(e.key==='Enter'&&!e.shiftKey&&!e.isComposing){e.preventDefault();if(!stop)$('form').requestSubmit()}};\n"
    "$('fresh').onclick=()=>{if(stop)stop.abort();turns=[];$('log').textContent='';$('text').focus()};\n"
    "look()\n"
    "</script></html>\n";

_Static_assert(sizeof page <= API_PAGE_BYTES, "an answer has room for the whole page");

const char api_page_fields[] =
    "cache-control: no-store\r\nx-content-type-options: nosniff\r\nreferrer-policy: no-referrer\r\n"
    "content-security-policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'\r\n";

const char *api_page(size_t *bytes)
{
    *bytes = sizeof page - 1;
    return page;
}
